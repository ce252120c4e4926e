"""``check``: a real checkpoint, traced with and without patches and lowerings, and compared.

`loaded` is imported by the fork server, so that what it loads is in memory once for all children;
`describing` and `patching` run in children, as the case itself does. `checking` puts together what
came, and `report` tells it.
"""
