"""Browsers by what they call themselves, as their makers publish it."""

import pytest

from hearthpay.web.device_names import device_name

_APPLE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
_WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/134.0.0.0"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (f"{_APPLE} Version/18.3 Mobile/15E148 Safari/604.1", "Safari, iPhone"),
        (f"{_APPLE} CriOS/134.0 Mobile/15E148 Safari/604.1", "Chrome, iPhone"),
        (f"{_WINDOWS} Safari/537.36 Edg/134.0.0.0", "Edge, Windows"),
        (f"{_WINDOWS} Safari/537.36", "Chrome, Windows"),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:136.0) Gecko/20100101 Firefox/136.0",
            "Firefox, macOS",
        ),
        ("Mozilla/5.0 (Android 15; Mobile; rv:136.0) Gecko/136.0 Firefox/136.0", "Firefox, Android"),
        ("curl/8.12.1", "curl/8.12.1"),
        ("<b>" * 40, f"{('<b>' * 40)[:60]}…"),
        ("  ", None),
        (None, None),
    ],
)
def test_a_browser_is_called_what_people_call_it(agent: str | None, name: str | None) -> None:
    assert device_name(agent) == name
