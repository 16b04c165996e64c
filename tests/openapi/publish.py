"""Write the documentation, `llms.txt` and the Bruno collection into `docs/api`: `python -m tests.openapi.publish`."""

from pathlib import Path

from tools import bruno

from hearthpay.app import create_app
from hearthpay.clock import SystemClock
from hearthpay.database.session import Database
from hearthpay.http.docs_page import write_docs

if __name__ == "__main__":
    # The document is made of the routes alone: nothing connects to this address.
    app = create_app(Database("postgresql://nobody@127.0.0.1:1/nothing", role="nobody"), SystemClock())
    write_docs(app.openapi(), Path(__file__).parents[2] / "docs" / "api")
    bruno.main()
