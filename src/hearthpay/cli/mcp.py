"""`hearthpay mcp`, as the command line lists and explains it; `hearthpay.cli` takes a shorter way to start it."""


def mcp() -> None:
    """Serve the tools for agents over standard input and output.

    HEARTHPAY_API_KEY is the key that the agent acts with, HEARTHPAY_API_URL where the service answers (left out,
    http://127.0.0.1:8000). Neither a database nor a data directory is needed.
    """
    from hearthpay.mcp.stdio import main

    main()
