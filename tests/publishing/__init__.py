"""What Home Assistant's hassfest, HACS and the quality scale ask of the files of an integration.

hassfest and HACS's validation need the network, so their rules are written here once more.
"""
