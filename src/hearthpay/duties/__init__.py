"""What a household must do, and by when: returns, payments, statements, new hire reports, elections and notices."""
