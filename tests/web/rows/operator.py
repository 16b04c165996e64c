"""The page of who runs the installation: it is there for nobody else."""

from typing import Final

from tests.web.rows.row import Row

ROWS: Final = {
    "GET /operator": Row(303, 404, 404, 404, 404, 404),
    "GET /operator/files": Row(303, 404, 404, 404, 404, 404),
    "POST /operator/files/{file_id}": Row(303, 404, 404, 404, 404, 303),
    "GET /operator/wages": Row(303, 404, 404, 404, 404, 404),
    "POST /operator/wages/{payroll_id}": Row(303, 404, 404, 404, 404, 303),
}
