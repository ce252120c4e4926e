"""Modules that fork servers import, so that no case's child has to import it all for itself.

Importing one is what it is for. None starts a thread or touches a device.
"""
