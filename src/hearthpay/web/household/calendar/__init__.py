"""The household's deadlines: the list, each item, what is done, and the link for calendar apps."""

from typing import Final

from hearthpay.web.household.calendar.feed_link import router as feed_link
from hearthpay.web.household.calendar.item_page import router as item_page
from hearthpay.web.household.calendar.list_page import router as list_page

routers: Final = (list_page, feed_link, item_page)
"""In the order in which their pages are matched."""
