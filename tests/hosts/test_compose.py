"""The compose file gives each host what it needs and no more, by settings that exist."""

from pathlib import Path

from tests.hosts.compose import compose_file

SETTINGS = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
OUR_SERVICES = ("migrate", "api", "worker")


def test_only_the_migration_holds_the_owners_login() -> None:
    services = compose_file()["services"]
    holders = [name for name in services if "DATABASE_URL" in services[name].get("environment", {})]
    assert holders == ["migrate"]
    text = {name: str(services[name]["environment"]) for name in OUR_SERVICES}
    assert "OWNER_PASSWORD" in text["migrate"]
    assert "OWNER_PASSWORD" not in text["api"] + text["worker"]
    assert "WORKER_PASSWORD" not in text["api"]
    assert "SERVICE_PASSWORD" not in text["worker"]
    assert "HEARTHPAY_KEYS" not in text["migrate"]


def test_every_setting_of_the_compose_file_is_documented() -> None:
    documented = SETTINGS.read_text("utf-8")
    services = compose_file()["services"]
    for name in OUR_SERVICES:
        for setting in services[name]["environment"]:
            assert f"`{setting}`" in documented, setting


def test_two_hosts_of_each_kind_start_after_the_migration() -> None:
    services = compose_file()["services"]
    for name in ("api", "worker"):
        assert "--no-migrate" in services[name]["command"]
        assert services[name]["deploy"]["replicas"] == 2
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
