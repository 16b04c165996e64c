"""Downloads of files from pages."""

from starlette.responses import Response


def csv_file(text: str, name: str) -> Response:
    """Return a table to be saved under a name; the text is safe for spreadsheets already (`wire.csv_text`)."""
    return Response(
        text.encode(),
        media_type="text/csv; charset=utf-8; header=present",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )
