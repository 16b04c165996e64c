"""What a bundle starts: `hearthpay mcp`."""

from hearthpay.mcp.stdio import main

main()
