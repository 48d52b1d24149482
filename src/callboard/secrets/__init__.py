"""What is not written down: secrets are kept in the keyring or the environment, found in every text, and named by handles.

forms      in which ways a value stands in a text
dumps      bytes as xxd, od and hexdump write them
tokens     marks and lengths of providers' tokens
shapes     what looks like a token of somebody's
matching   finds both in one text, and says where one may be beginning
veil       the same of a text that comes in pieces
redaction  handles in place of values, and values in place of handles
keys       the system's keyring, and what the environment holds
"""
