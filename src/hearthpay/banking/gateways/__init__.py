"""Exchanging files with the bank over directories or SFTP, with one protocol for both."""
