"""`hearthpay mcp` in the command line's help; `hearthpay.cli` starts it in a shorter way."""


def mcp() -> None:
    """Serve the tools for agents over standard input and output.

    HEARTHPAY_API_KEY is the key that the agent acts with, HEARTHPAY_API_URL where the service answers (left out,
    http://127.0.0.1:8000). Neither a database nor a data directory is needed.
    """
    from hearthpay.mcp.stdio import main

    main()
