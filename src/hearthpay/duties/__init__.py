"""What a household must do by when: returns, payments, statements, reports of hires, elections and notices."""
