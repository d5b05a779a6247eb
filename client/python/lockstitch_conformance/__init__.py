"""The wire contract as a suite that runs against any server, by its address and the generated stubs alone."""
