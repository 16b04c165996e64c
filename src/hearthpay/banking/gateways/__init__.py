"""How files reach the bank and come back: over directories or SFTP, one protocol for both."""
