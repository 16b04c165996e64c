"""Help inside the app: guides for families and employees, the words of the product, and finding them."""
