"""The catalogue files, as package data of the layer."""
