"""``skips explain`` and ``skips list``: entries, the cases they apply to, and their history."""
