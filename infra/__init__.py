"""The AWS side of Tidegate: one construct per capability, composed in `service`."""
