"""Writes the pages of `docs/reference` that are made from the code: `python -m tools.reference`.

A test compares each page with what this module returns, so that no page is out of date.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from hearthpay.access import permissions
from hearthpay.access.permissions import FEATURE_OF_SCOPE, Permission
from hearthpay.access.refusal_details import DETAILS
from hearthpay.banking.return_codes import return_codes
from hearthpay.http.error_schemas import details_name, details_schemas
from hearthpay.http.statuses import STATUS
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.payroll.issues.payment_status import PaymentStatus, RefundStatus
from hearthpay.payroll.lifecycle import TRANSITIONS, PayrollStatus
from hearthpay.registrations.derivation import RegistrationStatus
from hearthpay.web.status_words import STATUS_WORDS

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "docs" / "reference"
_WORDS: Final = Path(__file__).with_name("reference_words.toml")
_MADE: Final = "Made from the code by `python -m tools.reference`; do not edit."


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Return the meanings that the code doesn't hold: of errors, statuses and failures."""
    return tomllib.loads(_WORDS.read_text(encoding="utf-8"))


_DATABASE: Final = (
    "Commands that need the database take `--data-dir DIR`, or read `HEARTHPAY_DATA_DIR` or `DATABASE_URL`. "
    "If you name none while a service of yours runs on another database, they ask which one to use: "
    "[the data directory](settings.md#the-data-directory)."
)


def commands_page() -> str:
    """Return the page of all commands, by group, with their arguments and options."""
    import typer

    from hearthpay.cli.main import app

    lines = [
        "# Commands",
        "",
        f"Every command of `hearthpay`. `hearthpay COMMAND --help` has the details. {_MADE}",
        "",
        _DATABASE,
    ]
    top: dict[str, list[tuple[str, Any]]] = {}
    for name, command in sorted(typer.main.get_command(app).commands.items()):  # type: ignore[attr-defined]
        nested = sorted(getattr(command, "commands", {}).items())
        group = name if nested else (command.rich_help_panel or "Other")
        plain = not nested or getattr(command, "invoke_without_command", False)
        if plain:
            top.setdefault(command.rich_help_panel or "Other", []).append((f"hearthpay {name}", command))
        for inner, each in nested:
            top.setdefault(f"hearthpay {group}", []).append((f"hearthpay {name} {inner}", each))
    for group in sorted(top, key=lambda each: (each.startswith("hearthpay"), each)):
        title = f"`{group}`" if group.startswith("hearthpay") else group
        lines += ["", f"## {title}", "", "| command | what it does | options |", "|---|---|---|"]
        lines += [_command_row(name, command) for name, command in top[group]]
    return "\n".join(lines) + "\n"


def _command_row(name: str, command: Any) -> str:
    arguments = [each.name.upper() for each in command.params if each.param_type_name == "argument"]
    options = [
        f"`{(each.opts or each.secondary_opts)[0]}`"
        for each in command.params
        if each.param_type_name == "option" and each.name not in {"help", "data_dir"}
    ]
    summary = re.sub(r"\s+", " ", (command.help or "").split("\n\n")[0]).replace("``", "`").strip()
    return f"| `{' '.join([name, *arguments])}` | {_cell(summary)} | {' '.join(options)} |"


def permissions_page() -> str:
    """Return the page of permissions: who may do what."""
    lines = [
        "# Permissions",
        "",
        f"Who may do what. {_MADE}",
        "[Access](../explanation/access.md) explains how a permission is checked.",
        "",
        "* **Role**: the least role that a member needs. Viewers are below admins, and admins below owners.",
        "* **Scope**: what an API key or an app's token must carry. A dash means that any key will do.",
        "* **Plan**: the feature that the organization's plan must include.",
        "* **Also**: others who may do it. *Stops* means that the link of a warning email can do it too.",
        "",
        "The administrator at the command line may do everything.",
        "",
        "| permission | role | scope | plan | also |",
        "|---|---|---|---|---|",
    ]
    for each in all_permissions():
        scope = "people only" if each.people_only else f"`{each.scope}`" if each.scope else "–"
        also = sorted({"system": "worker", "employee": "employee"}[kind] for kind in each.also)
        also += ["stops"] if each.stops else []
        plan = f"`{each.feature}`" if each.feature else "any"
        if each.persons_feature:
            plan += f" (members: `{each.persons_feature}`)"
        lines.append(f"| `{each.name}` | {each.role or '–'} | {scope} | {plan} | {', '.join(also)} |")
    lines += ["", "## Scopes", "", "| scope | plan feature | permissions |", "|---|---|---|"]
    for scope, feature in FEATURE_OF_SCOPE.items():
        opened = ", ".join(f"`{each.name}`" for each in all_permissions() if each.scope == scope)
        lines.append(f"| `{scope}` | `{feature}` | {opened} |")
    return "\n".join(lines) + "\n"


def all_permissions() -> list[Permission]:
    """Return every permission, in the order in which the code lists them."""
    return [each for each in vars(permissions).values() if isinstance(each, Permission)]


def error_codes_page() -> str:
    """Return the page of error codes: status, meaning, and the operations that document it."""
    lines = [
        "# Error codes",
        "",
        f"Every `error.code` of the API. {_MADE}",
        "",
        "A code never changes its meaning; its message may. Compare codes, never messages. Every error has a",
        "`requestId`; name it when you ask for help. Where many calls answer a code, only their number is shown.",
    ]
    by_code = _operations_by_code()
    for status in sorted(set(STATUS.values())):
        lines += ["", f"## {status}", "", "| code | meaning | calls |", "|---|---|---|"]
        for code in (code for code, its in STATUS.items() if its == status):
            named = by_code.get(code, [])
            calls = ", ".join(f"`{each}`" for each in named) if len(named) <= 12 else f"{len(named)} calls"
            lines.append(f"| `{code}` | {words()['errors'][code]} | {calls} |")
    lines += [
        "",
        "`validation_error` also comes with 408 (the request arrived too slowly) and 413 (it is too large). Some",
        "conflicts of `invalid_state` come with 409.",
        "",
        "## Details",
        "",
        "What `error.details` holds, by code. Of `validation_error` it is a list: `field` and `message` of every field",
        "that is wrong. Amounts are dollars. Codes that aren't here carry none. Later versions add codes and fields,",
        "so accept what you don't know: go by the HTTP status then, and show `message`.",
    ]
    lines += ["", "| code | field | type | meaning |", "|---|---|---|---|"]
    schemas = details_schemas()
    for code in DETAILS:
        rows = _detail_rows("", schemas[details_name(code)], schemas)
        lines += [f"| {'' if place else f'`{code}`'} | {row}" for place, row in enumerate(rows)]
    return "\n".join(lines) + "\n"


def _detail_rows(before: str, schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    """Yield field, type and meaning for each field of a schema, and for those of the objects inside."""
    for name, field in schema["properties"].items():
        inner = field.get("items", field)
        kinds = [each.get("format", each.get("type")) for each in field.get("anyOf", (inner,))]
        shown = " or ".join(filter(None, kinds)) or "object"
        if "items" in field:
            shown = f"list of {shown}s"
        optional = "" if name in schema.get("required", ()) else " (optional)"
        yield f"`{before}{name}` | {shown}{optional} | {_cell(field['description'])} |"
        if "$ref" in inner:
            within = f"{before}{name}{'[]' if 'items' in field else ''}."
            yield from _detail_rows(within, schemas[inner["$ref"].rsplit("/", 1)[-1]], schemas)


def _operations_by_code() -> dict[str, list[str]]:
    import orjson

    document = orjson.loads((ROOT / "docs/api/openapi.json").read_bytes())
    found: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status, response in operation.get("responses", {}).items():
                for code in re.findall(r"`(\w+)`", response["description"]) if status >= "400" else ():
                    call = f"{method.upper()} {path.removeprefix('/api/v1')}"
                    if call not in found.setdefault(code, []):
                        found[code].append(call)
    return found


def statuses_page() -> str:
    """Return the page of statuses: of payrolls, payments, refunds, failures and registrations."""
    lines = ["# Statuses", "", f"What each status of the API means, and what pages call it. {_MADE}"]
    for title, kind, values in (
        ("Payrolls", "payroll", get_args(PayrollStatus)),
        ("Paychecks", "payment", get_args(PaymentStatus)),
        ("Refunds", "refund", get_args(RefundStatus)),
        ("State accounts", "registration", get_args(RegistrationStatus)),
    ):
        lines += ["", f"## {title}", "", "| status | on pages | meaning |", "|---|---|---|"]
        shown = STATUS_WORDS.get(kind, {})
        lines += [
            f"| `{each}` | {shown[each].word if each in shown else ''} | {words()[kind][each]} |"
            for each in values
        ]
    lines += ["", "## How a payroll moves", "", "| from | to | by |", "|---|---|---|"]
    for (leave, enter), kinds in TRANSITIONS.items():
        by = " or ".join(["people"] * ("user" in kinds) + ["the worker"] * ("system" in kinds))
        lines.append(f"| {f'`{leave}`' if leave else 'new'} | `{enter}` | {by} |")
    lines += ["", "## Failures", "", "`failure.kind` of a payroll.", "", "| kind | meaning |", "|---|---|"]
    lines += [f"| `{each}` | {words()['failure'][each]} |" for each in get_args(FailureKind)]
    lines += ["", "[Bank returns](bank-returns.md) shows what each return does to a payroll."]
    return "\n".join(lines) + "\n"


def return_codes_page() -> str:
    """Return the page of the banks' return codes and notifications of change."""
    codes = return_codes()
    lines = [
        "# Return codes",
        "",
        f"Why a bank returns a payment, and what to do. {_MADE}",
        "",
        f"* **retry**: the debit is presented again, at most {codes.attempts} times within {codes.within_days} days.",
        "* **fail**: the payment failed. Fix the cause first.",
        "* **stop**: the account isn't used until its owner authorizes it again.",
        "",
        "Any other code fails. [Bank returns](bank-returns.md) shows what happens to the payroll.",
        "",
        "| code | title | handling | the household's debit | the employee's deposit |",
        "|---|---|---|---|---|",
    ]
    for code, reason in sorted(codes.reasons.items()):
        same = reason.credit == codes.other.credit
        deposit = "" if same else _cell(f"{reason.credit.happened} {reason.credit.action}")
        debit = "" if reason.debit == codes.other.debit else f"{reason.debit.happened} {reason.debit.action}"
        lines.append(f"| `{code}` | {_cell(reason.title)} | {reason.handling} | {_cell(debit)} | {deposit} |")
    lines += ["", "## Notifications of change", "", "| code | what it corrects |", "|---|---|"]
    lines += [f"| `{code}` | {_cell(title)} |" for code, title in sorted(codes.changes.items())]
    lines += [
        "",
        "## Disputes between banks",
        "",
        "Banks dispute a return among themselves with these. Such a record decides nothing: the payment is on hold",
        "until the administrator has asked the bank (`hearthpay bank unread`).",
        "",
        "| code | what it says |",
        "|---|---|",
    ]
    lines += [f"| `{code}` | {_cell(title)} |" for code, title in sorted(codes.disputes.items())]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "commands.md": commands_page,
    "permissions.md": permissions_page,
    "error-codes.md": error_codes_page,
    "statuses.md": statuses_page,
    "return-codes.md": return_codes_page,
}
"""The generated pages, by file name."""


def stale() -> Iterator[str]:
    """Name every generated page that differs from the code."""
    for name, page in PAGES.items():
        path = FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != page():
            yield name


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
