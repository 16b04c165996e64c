from hearthpay.http.routing import api_router

router = api_router("Employees")
