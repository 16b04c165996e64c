"""Whatever the worker does on its own leaves a row in the audit log, and a test that looks at the row."""

import ast
from pathlib import Path

import pytest

from tests.source_trees import modules_with

TESTS = Path(__file__).parents[1]
LISTED_ONLY = TESTS / "alerts" / "test_sensitive_actions.py"
"""Says of each action whether it is told, not whether it is recorded."""


def _recorded() -> set[str]:
    """The actions that worker code records, as literals or by the name of a constant."""
    found: set[str] = set()
    for _, tree in modules_with("record_worker_audit"):
        constants = {
            node.target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "record_worker_audit"
            ):
                action = node.args[1]
                found.add(action.value if isinstance(action, ast.Constant) else constants[action.id])  # type: ignore[attr-defined]
    return found


@pytest.mark.completeness
def test_each_action_of_the_worker_is_looked_for_in_the_audit_log() -> None:
    recorded = _recorded()
    assert len(recorded) >= 10
    texts = [
        path.read_text(encoding="utf-8")
        for path in TESTS.rglob("*.py")
        if path not in {LISTED_ONLY, Path(__file__)}
    ]
    missing = sorted(
        action
        for action in recorded
        if not any(f'{action}"' in text or f"{action}'" in text for text in texts)
    )
    assert missing == [], f"no test looks at the audit row of {', '.join(missing)}"
