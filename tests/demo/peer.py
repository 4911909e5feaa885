#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""peer.py - the two ends of a UDP_SEGMENT and of a TCP transfer

usage: peer.py udp-receive PORT BYTES
       peer.py udp-send HOST PORT BYTES
       peer.py tcp-receive PORT
       peer.py tcp-send HOST PORT FILE

Receivers print the SHA-256 of what came; udp-receive also the number of datagrams
and of calls that brought them. udp-send has one superpacket under way at a time,
so that nothing but a fault can lose one. tcp-send says "connected" and sends when
a line comes on its standard input.
"""
import hashlib
import random
import socket
import sys

SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104
SEGMENT = 1400
BATCH = 46 * SEGMENT	# the most that fits 65,507 bytes


def content(size):
    return random.Random(size).randbytes(size)


def udp_receive(port, size):
    sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sock.setsockopt(SOL_UDP, UDP_GRO, 1)
    sock.bind(("::", port))
    print("listening", flush=True)
    sha = hashlib.sha256()
    got = datagrams = calls = 0
    while got < size:
        data, control, _, peer = sock.recvmsg(65535, 64)
        segment = len(data)
        for level, kind, value in control:
            if (level, kind) == (SOL_UDP, UDP_GRO):
                segment = int.from_bytes(value[:4], sys.byteorder)
        sha.update(data)
        got += len(data)
        datagrams += -(-len(data) // segment)
        calls += 1
        sock.sendto(got.to_bytes(8, "big"), peer)
    print(sha.hexdigest(), datagrams, calls)


def udp_send(host, port, size):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.setsockopt(SOL_UDP, UDP_SEGMENT, SEGMENT)
    sock.settimeout(20)
    sock.connect((host, port))
    data = content(size)
    calls = 0
    for at in range(0, size, BATCH):
        batch = data[at:at + BATCH]
        sock.send(batch)
        calls += 1
        while int.from_bytes(sock.recv(8), "big") < at + len(batch):
            pass
    print(hashlib.sha256(data).hexdigest(), -(-size // SEGMENT), calls)


def tcp_receive(port):
    server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    print("listening", flush=True)
    sock, _ = server.accept()
    sha = hashlib.sha256()
    while data := sock.recv(1 << 20):
        sha.update(data)
    print(sha.hexdigest())


def tcp_send(host, port, path):
    with socket.create_connection((host, port)) as sock, open(path, "rb") as file:
        print("connected", flush=True)
        sys.stdin.readline()
        sock.sendfile(file)


def main():
    what, *args = sys.argv[1:]
    if what == "udp-receive":
        udp_receive(int(args[0]), int(args[1]))
    elif what == "udp-send":
        udp_send(args[0], int(args[1]), int(args[2]))
    elif what == "tcp-receive":
        tcp_receive(int(args[0]))
    elif what == "tcp-send":
        tcp_send(args[0], int(args[1]), args[2])
    else:
        sys.exit(__doc__)


main()
