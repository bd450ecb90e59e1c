"""What the server offers, one file each: it reads sessions and answers, it keeps no state of its own."""
