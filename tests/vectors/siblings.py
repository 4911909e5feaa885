#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""siblings.py - more vectors of kinds that a single example covers weakly

usage: siblings.py            write siblings.vec to standard output
       siblings.py --check    test the vectors of this folder against the
                              segmenter below; prints KTAP

The segmenter is slow and obvious on purpose and shares nothing with the C
code: what both agree on was understood twice. --check also finds a siblings.vec
that was edited by hand.
"""

import random
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

TCP, UDP, ICMP6 = 6, 17, 58
HOP, ROUTING, FRAGMENT, ESP, AH, NONE, DSTOPTS = 0, 43, 44, 50, 51, 59, 60

NEEDS_CSUM, DATA_VALID = 1, 2
TCPV4, UFO, TCPV6, UDP_L4, ECN = 1, 3, 4, 5, 0x80

FIN, SYN, PSH, ACK, URG, ECE, CWR = 1, 2, 8, 16, 32, 64, 128

A4, B4 = bytes([192, 0, 2, 33]), bytes([203, 0, 113, 250])
A6 = bytes.fromhex('20010db8ffff0000f00d000000000abc')
B6 = bytes.fromhex('20010db80000eeee0000000000fe0001')


# ---- checksums and packets ----

def ones_sum(data):
    """16-bit one's complement sum, not inverted."""
    if len(data) % 2:
        data += b'\0'
    total = sum(struct.unpack('>%dH' % (len(data) // 2), data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return total


def add16(*values):
    return ones_sum(b''.join(struct.pack('>H', v) for v in values))


def put16(data, offset, value):
    return data[:offset] + struct.pack('>H', value) + data[offset + 2:]


def get16(data, offset):
    return struct.unpack_from('>H', data, offset)[0]


def pseudo(src, dst, proto, length):
    return ones_sum(src + dst + struct.pack('>II', length, proto))


def payload(length, seed):
    return random.Random(seed).randbytes(length)


def ip4(proto, body, ident=0x8001, frag=0x4000, options=b'', tos=0, ttl=61):
    header_len = 20 + len(options)
    header = struct.pack('>BBHHHBBH', 0x40 | header_len // 4, tos,
                         header_len + len(body), ident, frag, ttl, proto, 0)
    header += A4 + B4 + options
    return put16(header, 10, 0xffff ^ ones_sum(header)) + body


def ip6(proto, body, exts=(), first=0x60000000, hop_limit=61):
    """exts: (type, bytes); the bytes of each have two in front, type and length"""
    chain = b''
    following = proto
    for kind, content in reversed(exts):
        assert (len(content) + 2) % 8 == 0
        chain = bytes([following, (len(content) + 2) // 8 - 1]) + content + chain
        following = kind
    body = chain + body
    return struct.pack('>IHBB', first, len(body) & 0xffff, following,
                       hop_limit) + A6 + B6 + body


def padn(length):
    """Content of an options header of so many bytes: padding."""
    content = b''
    length -= 2
    while length:
        n = min(length, 257)
        content += b'\0' if n == 1 else bytes([1, n - 2]) + bytes(n - 2)
        length -= n
    return content


def tcp(data, v=4, flags=ACK, options=b'', seq=0xfffffc00, ports=(40001, 8443),
        urgent=0, csum=None):
    header = struct.pack('>HHIIBBHHH', *ports, seq, 0x01020304,
                         (20 + len(options)) // 4 << 4, flags, 1021, 0, urgent)
    header += options
    return l4(TCP, header, 16, data, v, csum)


def udp(data, v=4, ports=(40001, 51820), length=None, csum=None):
    length = 8 + len(data) if length is None else length
    return l4(UDP, struct.pack('>HHHH', *ports, length & 0xffff, 0), 6, data, v, csum)


def l4(proto, header, offset, data, v, csum):
    """With the partial checksum that NEEDS_CSUM promises."""
    if csum is None:
        addresses = (A4, B4) if v == 4 else (A6, B6)
        csum = pseudo(*addresses, proto, len(header) + len(data))
    return put16(header, offset, csum) + data


def vnet(kind=0, size=0, start=0, offset=0, flags=NEEDS_CSUM, hdr_len=None):
    if hdr_len is None:
        hdr_len = start + (20 if offset == 16 else 8) if kind else 0
    return struct.pack('<BBHHHH', flags, kind, hdr_len, size, start, offset)


# ---- the segmenter ----

def find_l4(packet):
    """(protocol, offset of the transport header)"""
    if packet[0] >> 4 == 4:
        return packet[9], (packet[0] & 15) * 4
    proto, offset = packet[6], 40
    while proto in (HOP, ROUTING, DSTOPTS):
        proto, offset = packet[offset], offset + (packet[offset + 1] + 1) * 8
    return proto, offset


def finish(packet, start, offset):
    check = 0xffff ^ ones_sum(packet[start:])
    return put16(packet, start + offset, check or 0xffff)


def segment(header, packet):
    flags, kind, _, size, start, offset = struct.unpack('<BBHHHH', header[:10])
    if not kind:
        return [finish(packet, start, offset) if flags & NEEDS_CSUM else packet]

    proto, l4_off = find_l4(packet)
    header_len = l4_off + (8 if proto == UDP else (packet[l4_off + 12] >> 4) * 4)
    check_at = l4_off + (6 if proto == UDP else 16)
    data = packet[header_len:]
    if len(data) <= size:
        return [finish(packet, start, offset) if flags & NEEDS_CSUM else packet]

    partial = get16(packet, check_at)
    if not flags & NEEDS_CSUM:
        where = slice(12, 20) if packet[0] >> 4 == 4 else slice(8, 40)
        partial = pseudo(packet[where], b'', proto, len(packet) - l4_off)
    partial = add16(partial, 0xffff ^ (len(packet) - l4_off))

    pieces = [data[i:i + size] for i in range(0, len(data), size)]
    out = []
    for i, piece in enumerate(pieces):
        head = put16(packet[:header_len], check_at, 0)
        total = header_len + len(piece)
        if packet[0] >> 4 == 4:
            head = put16(head, 2, total)
            head = put16(head, 4, (get16(packet, 4) + i) & 0xffff)
            head = put16(head, 10, 0)
            head = put16(head, 10, 0xffff ^ ones_sum(head[:(head[0] & 15) * 4]))
        else:
            head = put16(head, 4, total - 40)
        if proto == UDP:
            head = put16(head, l4_off + 4, total - l4_off)
        else:
            seq = (struct.unpack_from('>I', packet, l4_off + 4)[0] + i * size) % 2**32
            bits = packet[l4_off + 13]
            if i < len(pieces) - 1:
                bits &= ~(FIN | PSH)
            if i > 0:
                bits &= ~CWR
            head = (head[:l4_off + 4] + struct.pack('>I', seq) +
                    head[l4_off + 8:l4_off + 13] + bytes([bits]) + head[l4_off + 14:])
        check = 0xffff ^ add16(partial, total - l4_off, ones_sum(head[l4_off:]),
                               ones_sum(piece))
        if proto == UDP:
            check = check or 0xffff
        out.append(put16(head, check_at, check) + piece)
    return out


# ---- the siblings ----

class Siblings:
    def __init__(self):
        self.lines = ['# SPDX-License-Identifier: GPL-2.0 OR MIT',
                      '# More examples of the kinds in the other files.',
                      '# Written by siblings.py; do not edit.']

    def add(self, comment, name, op, *lines):
        self.lines += ['', '# ' + comment, 'vector ' + name, 'op ' + op]
        self.lines += lines
        self.lines += ['end']

    def refuse(self, name, reason, header, packet, comment):
        if reason != 'hdr_len' and len(packet) < 100:
            header = header[:2] + bytes(2) + header[4:]
        self.add(comment, name, 'refuse', 'vnet ' + header.hex(),
                 'packet ' + (packet.hex() or '-'), 'reason ' + reason)

    def cut(self, name, header, packet, comment):
        self.add(comment, name, 'segment', 'vnet ' + header.hex(),
                 'packet ' + packet.hex(),
                 *('seg ' + s.hex() for s in segment(header, packet)))

    def join(self, name, header, packet, comment):
        """What segmentation makes of a superpacket can be joined to it again."""
        pieces = segment(header, packet)
        self.add(comment, name, 'coalesce', 'policy exact',
                 *('in ' + p.hex() for p in pieces),
                 'group ' + ','.join(map(str, range(len(pieces)))),
                 'vnet ' + header.hex(), 'out ' + packet.hex())

    def apart(self, name, packets, comment):
        lines = ['policy must_not_merge'] + ['in ' + p.hex() for p in packets]
        for i, p in enumerate(packets):
            lines += ['group %d' % i, 'vnet ' + bytes(10).hex(), 'out ' + p.hex()]
        self.add(comment, name, 'coalesce', *lines)


def refusals(s):
    t4 = ip4(TCP, tcp(payload(301, 1)))
    t6 = ip6(TCP, tcp(payload(301, 2), v=6))
    u4 = ip4(UDP, udp(payload(301, 3)))
    u6 = ip6(UDP, udp(payload(301, 4), v=6))
    tso4, tso6 = vnet(TCPV4, 90, 20, 16), vnet(TCPV6, 90, 40, 16)
    uso4, uso6 = vnet(UDP_L4, 90, 20, 6), vnet(UDP_L4, 90, 40, 6)
    plain = vnet(flags=0)

    for kind in (2, UFO | ECN, 6, 7, 0x10, 0x7f, 0x20 | TCPV4, 0x40 | TCPV6,
                 0x60 | UDP_L4, 0xff):
        s.refuse('gso-type-%02x' % kind, 'gso_type', vnet(kind, 90, 20, 16), t4,
                 'gso_type 0x%02x is no type, or none of ours' % kind)
    s.refuse('uso6-ecn', 'gso_type', vnet(UDP_L4 | ECN, 90, 40, 6), u6,
             'ECN is a matter of TCP')

    s.refuse('uso-on-tcp4', 'gso_proto', uso4, t4, 'USO on a TCP packet')
    s.refuse('uso-on-tcp6', 'gso_proto', uso6, t6, 'USO on a TCP packet, IPv6')
    s.refuse('tso6-on-ipv4', 'gso_proto', vnet(TCPV6, 90, 20, 16), t4,
             'TSO6 on an IPv4 packet')
    s.refuse('tso4-on-udp6', 'gso_proto', vnet(TCPV4, 90, 40, 16), u6,
             'neither the version nor the protocol fits')
    for proto, text in ((ESP, 'ESP'), (AH, 'AH'), (NONE, 'no next header'), (132, 'SCTP')):
        s.refuse('tso6-proto-%d' % proto, 'gso_proto', tso6,
                 ip6(proto, tcp(payload(301, 5), v=6)), 'TSO6 with next header: ' + text)
    s.refuse('tso6-ah-behind-options', 'gso_proto', vnet(TCPV6, 90, 48, 16),
             ip6(AH, tcp(payload(301, 6), v=6), [(DSTOPTS, padn(8))]),
             'an extension header that segmentation does not walk')

    for name, header, packet in (('uso4', uso4, u4), ('uso6', uso6, u6), ('tso6', tso6, t6)):
        for size in (0, 0xffff):
            s.refuse('%s-gso-size-%d' % (name, size), 'gso_size',
                     header[:4] + struct.pack('<H', size) + header[6:], packet,
                     'gso_size %d has a meaning of its own' % size)
    s.refuse('tso4-gso-size-65535-fits', 'gso_size', vnet(TCPV4, 0xffff, 20, 16),
             ip4(TCP, tcp(payload(5, 7))), 'gso_size 65535, and the payload fits')
    s.refuse('tso6-gso-size-7', 'gso_size', vnet(TCPV6, 7, 40, 16), t6,
             'just below the least size for TCP')
    s.refuse('tso4-gso-size-1', 'gso_size', vnet(TCPV4, 1, 20, 16),
             ip4(TCP, tcp(payload(2, 8))), 'the least payload that a size of 1 would cut')
    s.refuse('uso6-129-segments', 'gso_segs', vnet(UDP_L4, 3, 40, 6),
             ip6(UDP, udp(payload(3 * 128 + 1, 9), v=6)), 'one byte too many for 128 datagrams')

    s.refuse('uso6-fits-no-needs-csum', 'csum', vnet(UDP_L4, 90, 40, 6, flags=0),
             ip6(UDP, udp(payload(50, 10), v=6)),
             'USO without NEEDS_CSUM, although the payload fits one datagram')
    for delta in (-2, -1, 1, 2):
        s.refuse('tso6-csum-start-%+d' % delta, 'csum', vnet(TCPV6, 90, 40 + delta, 16),
                 t6, 'csum_start beside the TCP header')
    s.refuse('tso6-csum-start-before-options', 'csum', vnet(TCPV6, 90, 40, 16),
             ip6(TCP, tcp(payload(301, 11), v=6), [(HOP, padn(16))]),
             'csum_start at the extension headers')
    s.refuse('tso4-csum-start-in-options', 'csum', vnet(TCPV4, 90, 20, 16),
             ip4(TCP, tcp(payload(301, 12)), options=bytes([1] * 12)),
             'csum_start in the IPv4 options, GSO')
    s.refuse('none4-csum-start-in-options', 'csum', vnet(start=24, offset=16),
             ip4(TCP, tcp(payload(31, 13)), options=bytes([1] * 12)),
             'csum_start in the IPv4 options, no GSO')
    s.refuse('none6-csum-start-in-ip', 'csum', vnet(start=39, offset=16), t6,
             'csum_start in the IPv6 header, the field behind it')
    s.refuse('none4-csum-field-one-past', 'csum', vnet(start=len(t4[:80]) - 20, offset=19),
             ip4(TCP, tcp(payload(40, 14))), 'the field ends one byte behind the packet')
    s.refuse('none4-csum-offset-max', 'csum', vnet(start=20, offset=0xffff), t4,
             'csum_offset 65535')
    s.refuse('none4-csum-start-at-end', 'csum', vnet(start=len(t4), offset=0), t4,
             'the field begins where the packet ends')
    s.refuse('none4-csum-far', 'csum', vnet(start=600, offset=6),
             ip4(UDP, udp(payload(1000, 15))),
             'a partial checksum behind the first 512 bytes: not supported')

    for name, packet, header in (('4', t4, tso4), ('6', t6, tso6)):
        l4_off = 20 if name == '4' else 40
        s.refuse('tso%s-doff-0' % name, 'l4_header', header,
                 packet[:l4_off + 12] + b'\0' + packet[l4_off + 13:], 'TCP data offset 0')
    short = tcp(b'', v=6, options=bytes([1] * 12))
    for n in (1, 12, 13, 19, 20, 31):
        s.refuse('tso6-tcp-%d-bytes' % n, 'l4_header', tso6, ip6(TCP, short[:n]),
                 'so many bytes of a TCP header of 32')
    for n in (1, 7):
        s.refuse('uso6-udp-%d-bytes' % n, 'l4_header', uso6, ip6(UDP, udp(b'', v=6)[:n]),
                 'so many bytes of a UDP header')
    s.refuse('tso4-no-tcp', 'l4_header', tso4, ip4(TCP, b''), 'nothing behind the IP header')
    s.refuse('tso6-no-tcp', 'l4_header', vnet(TCPV6, 90, 48, 16),
             ip6(TCP, b'', [(HOP, padn(8))]), 'nothing behind the extension headers')
    for delta in (-301, -1, 1, 65535 - 309):
        s.refuse('uso6-udplen%+d' % delta, 'udp_length', uso6,
                 ip6(UDP, udp(payload(301, 16), v=6, length=309 + delta)),
                 'UDP length not that of the payload')
    s.refuse('uso4-udplen-0', 'udp_length', uso4,
             ip4(UDP, udp(payload(301, 17), length=0)), 'UDP length 0')
    s.refuse('uso4-fits-udplen', 'udp_length', uso4,
             ip4(UDP, udp(payload(50, 18), length=57)),
             'UDP length one short, although the payload fits one datagram')

    for ihl in (0, 1, 4):
        s.refuse('ihl-%d' % ihl, 'ip_header', plain, bytes([0x40 | ihl]) + u4[1:],
                 'ihl below 5, no GSO')
    s.refuse('ihl-one-word-beyond', 'ip_header', plain,
             put16(b'\x46' + ip4(ESP, b'')[1:], 2, 20), 'ihl 6 in a packet of 20 bytes')
    s.refuse('ipv6-39-bytes', 'ip_header', plain, t6[:39], 'IPv6 header cut short by one byte')
    for version in (0, 5, 7, 15):
        s.refuse('version-%d' % version, 'ip_version', plain,
                 bytes([version << 4 | 5]) + u4[1:], 'version %d, no GSO' % version)
    s.refuse('one-byte', 'short', plain, b'\x45', 'one byte')

    for name, value in (('0', 0), ('minus-1', len(u4) - 1), ('plus-1', len(u4) + 1),
                        ('max', 65535)):
        s.refuse('totlen-' + name, 'ip_length', plain, put16(u4, 2, value),
                 'tot_len is not the length, no GSO')
    for name, value in (('0', 0), ('minus-1', len(u6) - 41), ('plus-1', len(u6) - 39),
                        ('total', len(u6)), ('max', 65535)):
        s.refuse('plen-' + name, 'ip_length', plain, put16(u6, 4, value),
                 'payload_len is not the length, no GSO')
    s.refuse('totlen-trailing', 'ip_length', plain, u4 + bytes(7), 'bytes behind tot_len')
    s.refuse('plen-trailing', 'ip_length', plain, u6 + bytes(7), 'bytes behind payload_len')
    s.refuse('jumbogram', 'ip_length', plain,
             put16(ip6(UDP, udp(payload(301, 19), v=6),
                       [(HOP, bytes.fromhex('c20400000139'))]), 4, 0),
             'a jumbo payload option instead of a length')
    s.refuse('len-65536', 'length', plain, ip6(ESP, bytes(65496)),
             'IPv6 can say more than 65535 bytes')

    for name, frag in (('first', 0x2000), ('middle', 0x20b9), ('last', 0x00b9),
                       ('offset-1', 0x0001), ('offset-max', 0x1fff)):
        s.refuse('tso4-fragment-' + name, 'fragment', tso4,
                 ip4(TCP, tcp(payload(301, 20)), frag=frag), 'TSO on an IPv4 fragment')
    s.refuse('uso4-fragment', 'fragment', uso4, ip4(UDP, udp(payload(301, 21)), frag=0x6000),
             'USO on an IPv4 fragment that has DF too')
    s.refuse('uso6-fragment', 'fragment', uso6,
             ip6(UDP, udp(payload(301, 22), v=6), [(FRAGMENT, bytes(6))]),
             'USO with a fragment header, an atomic one')
    s.refuse('tso6-fragment-behind-options', 'fragment', vnet(TCPV6, 90, 56, 16),
             ip6(TCP, tcp(payload(301, 23), v=6), [(DSTOPTS, padn(8)), (FRAGMENT, bytes(6))]),
             'a fragment header behind another extension header')

    for n in (1, 7):
        s.refuse('tso6-ext-%d-bytes' % n, 'ip_options', tso6, ip6(HOP, bytes(n)),
                 'an extension header that does not reach its own end')
    s.refuse('tso6-ext-beyond', 'ip_options', tso6, ip6(ROUTING, bytes([TCP, 1]) + bytes(13)),
             'an extension header one byte longer than the packet')
    s.refuse('tso6-ext-none-left', 'ip_options', tso6, ip6(DSTOPTS, b''),
             'an extension header is announced, and nothing follows')
    s.refuse('tso6-ext-second-beyond', 'ip_options', tso6,
             ip6(DSTOPTS, bytes([TCP, 2]) + bytes(14), [(HOP, padn(8))]),
             'the second extension header is longer than the packet')
    s.refuse('tso6-ext-480', 'ip_options', vnet(TCPV6, 90, 520, 16),
             ip6(TCP, tcp(payload(301, 24), v=6), [(DSTOPTS, padn(480))]),
             'extension headers longer than what is looked at')
    s.refuse('tso6-ext-448-tcp-28', 'ip_options', vnet(TCPV6, 90, 488, 16),
             ip6(TCP, tcp(payload(301, 25), v=6, options=bytes([1] * 8)),
                 [(DSTOPTS, padn(448))]),
             'the TCP options lie behind what is looked at')
    s.refuse('tso6-ext-8-times-2040', 'ip_options', vnet(TCPV6, 90, 40 + 8 * 2040, 16),
             ip6(TCP, tcp(payload(301, 26), v=6), [(DSTOPTS, padn(2040))] * 8),
             'so long that offsets have overflowed elsewhere')

    s.refuse('hdrlen-beyond-none', 'hdr_len', vnet(flags=0, hdr_len=len(u4) + 1), u4,
             'hdr_len one beyond the packet, no GSO')
    s.refuse('hdrlen-max', 'hdr_len', vnet(TCPV6, 90, 40, 16, hdr_len=0xffff), t6,
             'hdr_len 65535')


def cuts(s):
    stamps = bytes.fromhex('0101080a0badcafe00c0ffee')

    s.cut('tcp4-longest-headers', vnet(TCPV4, 8, 60, 16),
          ip4(TCP, tcp(payload(61, 40), options=bytes([1] * 40), flags=ACK | PSH),
              options=bytes([1] * 39 + [0])), '120 bytes of headers, the least gso_size')
    s.cut('tcp4-odd-tail', vnet(TCPV4, 91, 20, 16, hdr_len=0),
          ip4(TCP, tcp(payload(182 + 45, 41)), ident=0xfffe), 'odd sizes, hdr_len 0')
    s.cut('tcp4-size-one-below', vnet(TCPV4, 99, 20, 16),
          ip4(TCP, tcp(payload(100, 42), flags=ACK | PSH | FIN)),
          'one byte more than fits: the second segment has it, and the flags')
    s.cut('tcp4-size-equal', vnet(TCPV4, 100, 20, 16),
          ip4(TCP, tcp(payload(100, 43), flags=ACK | PSH | FIN | CWR)), 'it just fits: no GSO')
    s.cut('tcp4-size-7-fits', vnet(TCPV4, 7, 20, 16), ip4(TCP, tcp(payload(7, 44))),
          'a size too small to cut with is harmless if nothing is cut')
    s.cut('tcp4-size-65534', vnet(TCPV4, 65534, 20, 16), ip4(TCP, tcp(payload(70, 45))),
          'the largest gso_size')
    s.cut('tcp4-hdrlen-packet', vnet(TCPV4, 60, 20, 16, hdr_len=140),
          ip4(TCP, tcp(payload(100, 46))), 'hdr_len is the whole packet')
    s.cut('tcp4-flags-all', vnet(TCPV4 | ECN, 60, 20, 16),
          ip4(TCP, tcp(payload(150, 47), flags=0xff & ~(SYN | 4), urgent=0xbeef)),
          'each flag has its own rule')
    s.cut('tcp6-fits-ecn', vnet(TCPV6 | ECN, 90, 40, 16),
          ip6(TCP, tcp(payload(90, 48), v=6, flags=ACK | CWR)), 'it fits: CWR stays, ECN too')
    s.cut('tcp6-zero-payload', vnet(TCPV6, 90, 40, 16), ip6(TCP, tcp(b'', v=6)),
          'a TSO header on a bare ACK')
    s.cut('tcp6-no-needs-csum', vnet(TCPV6, 90, 0, 0, flags=0, hdr_len=0),
          ip6(TCP, tcp(payload(200, 49), v=6, csum=0xdead)), 'the checksum is made anew')
    s.cut('tcp6-data-valid', vnet(TCPV6, 90, 0xffff, 0xffff, flags=DATA_VALID, hdr_len=0),
          ip6(TCP, tcp(payload(200, 50), v=6, csum=0xdead)),
          'without NEEDS_CSUM its fields are not looked at')
    s.cut('tcp6-three-exts', vnet(TCPV6, 90, 40 + 24 + 16 + 32, 16),
          ip6(TCP, tcp(payload(200, 51), v=6, options=stamps),
              [(HOP, padn(24)), (ROUTING, bytes(14)), (DSTOPTS, padn(32))]),
          'three extension headers')
    s.cut('tcp6-ext-448-tcp-24', vnet(TCPV6, 300, 488, 16),
          ip6(TCP, tcp(payload(301, 52), v=6, options=bytes([1] * 4)),
              [(DSTOPTS, padn(448))]), 'headers that end at byte 512 exactly')
    s.cut('tcp6-max64k', vnet(TCPV6, 32000, 40, 16),
          ip6(TCP, tcp(payload(65475, 53), v=6)), 'largest IPv6 superpacket')

    s.cut('uso6-128-segments', vnet(UDP_L4, 3, 40, 6),
          ip6(UDP, udp(payload(3 * 128, 60), v=6)), '128 datagrams of an odd size')
    s.cut('uso6-gso1', vnet(UDP_L4, 1, 40, 6), ip6(UDP, udp(payload(3, 61), v=6)),
          'one byte in each datagram')
    s.cut('uso4-ip-options', vnet(UDP_L4, 77, 44, 6),
          ip4(UDP, udp(payload(155, 62)), options=bytes([1] * 24), tos=0xb8, frag=0,
              ident=0xffff), 'IPv4 options, TOS, ID that wraps')
    s.cut('uso4-zero-payload', vnet(UDP_L4, 77, 20, 6), ip4(UDP, udp(b'')),
          'a USO header on an empty datagram')
    s.cut('uso6-fits', vnet(UDP_L4, 77, 40, 6), ip6(UDP, udp(payload(77, 63), v=6)),
          'it just fits: no GSO')
    s.cut('uso6-size-65534', vnet(UDP_L4, 65534, 40, 6), ip6(UDP, udp(payload(77, 64), v=6)),
          'the largest gso_size')
    s.cut('uso6-csum-zero-last', vnet(UDP_L4, 60, 40, 6), zero_check_last(),
          'the checksum of the last datagram computes to zero')

    s.cut('none-both-flags', vnet(start=20, offset=16, flags=NEEDS_CSUM | DATA_VALID),
          ip4(TCP, tcp(payload(33, 70))), 'NEEDS_CSUM wins over DATA_VALID')
    s.cut('none-unknown-flags', vnet(start=40, offset=6, flags=NEEDS_CSUM | 0xfc),
          ip6(UDP, udp(payload(33, 71), v=6)), 'unknown flags are ignored')
    s.cut('tcp4-unknown-flags', vnet(TCPV4, 90, 20, 16, flags=NEEDS_CSUM | 0xfc),
          ip4(TCP, tcp(payload(100, 72))), 'unknown flags are ignored, GSO')
    s.cut('none-icmp6', vnet(start=40, offset=2),
          ip6(ICMP6, l4(ICMP6, bytes.fromhex('8000000012340001'), 2, payload(21, 73), 6, None)),
          'a partial checksum of neither TCP nor UDP')
    s.cut('none-csum-at-end', vnet(start=26, offset=2), ip4(253, bytes(6) + bytes([1, 2, 3, 4])),
          'the field is the last two bytes')
    s.cut('none-csum-start-is-field', vnet(start=40, offset=0), ip6(253, bytes([9, 8])),
          'nothing but the field')
    s.cut('none-csum-behind-exts', vnet(start=56, offset=6),
          ip6(UDP, udp(payload(33, 74), v=6), [(DSTOPTS, padn(16))]),
          'partial checksum behind extension headers')
    s.cut('none-fields-ignored',
          struct.pack('<BBHHHH', 0, 0, 0, 0xffff, 0xffff, 0xffff),
          ip4(UDP, udp(payload(33, 75))), 'fields of what is not claimed are not looked at')

    plain = vnet(flags=0)
    for name, packet, comment in (
            ('ping4', ip4(1, bytes.fromhex('0800f7ff00000000')), 'ICMP'),
            ('esp4', ip4(ESP, payload(77, 80)), 'ESP'),
            ('esp6', ip6(ESP, payload(77, 81)), 'ESP, IPv6'),
            ('ah6', ip6(AH, payload(24, 82)), 'AH, IPv6'),
            ('proto-255', ip4(255, payload(3, 83)), 'a reserved protocol'),
            ('fragment4-first', ip4(UDP, payload(80, 84), frag=0x2000), 'first fragment'),
            ('fragment4-last', ip4(UDP, payload(3, 85), frag=0x000a), 'last fragment'),
            ('fragment6', ip6(UDP, payload(80, 86), [(FRAGMENT, bytes([0, 81, 1, 2, 3, 4]))]),
             'fragment, IPv6'),
            ('ext-unknown', ip6(139, payload(40, 87)), 'HIP, an extension header'),
            ('ext-truncated', ip6(HOP, bytes([TCP, 9, 0])), 'extension header cut short'),
            ('ext-600', ip6(UDP, udp(payload(9, 88), v=6, csum=1), [(DSTOPTS, padn(600))]),
             'extension headers longer than what is looked at'),
            ('tcp-doff-0', ip4(TCP, bytes(20)), 'a TCP header of zeros'),
            ('tcp-3-bytes', ip4(TCP, bytes([1, 2, 3])), 'a TCP header cut short'),
            ('udp-length', ip4(UDP, udp(payload(20, 89), length=3, csum=0)), 'UDP length 3'),
            ('ihl-15', ip4(UDP, udp(payload(9, 90)), options=bytes([1] * 40)), 'longest header'),
            ('empty4', ip4(ESP, b''), 'an IPv4 header and nothing else'),
            ('empty6', ip6(NONE, b''), 'an IPv6 header and nothing else: payload_len is 0'),
            ('max64k', ip6(ESP, bytes(65495)), 'the longest packet')):
        s.cut('none-' + name, plain, packet, 'passes as it is: ' + comment)


def zero_check_last():
    """Chooses the last two payload bytes so that the last checksum is zero."""
    data = payload(118, 65) + b'\0\0'
    header = vnet(UDP_L4, 60, 40, 6)
    last = segment(header, ip6(UDP, udp(data, v=6)))[-1]
    data = data[:-2] + last[46:48]
    return ip6(UDP, udp(data, v=6))


def joins(s):
    stamps = bytes.fromhex('0101080a0badcafe00c0ffee')
    exts = [(DSTOPTS, padn(16))]

    s.join('tcp4-wrap', vnet(TCPV4, 700, 20, 16),
           ip4(TCP, tcp(payload(2000, 100), flags=ACK | PSH), ident=0xffff),
           'sequence number and ID wrap inside the group')
    s.join('tcp6-timestamps', vnet(TCPV6, 301, 40, 16, hdr_len=72),
           ip6(TCP, tcp(payload(903, 101), v=6, options=stamps)),
           'equal timestamps, an odd size, a full last segment')
    s.join('tcp4-tiny', vnet(TCPV4, 8, 20, 16), ip4(TCP, tcp(payload(17, 102))),
           'the least size')
    s.join('udp6-odd', vnet(UDP_L4, 99, 40, 6), ip6(UDP, udp(payload(300, 103), v=6)),
           'odd sizes and a short tail')
    s.join('udp4-one-byte', vnet(UDP_L4, 1, 20, 6), ip4(UDP, udp(payload(5, 104))),
           'datagrams of one byte')

    def pair(change, v, proto):
        """Two packets that would be joined but for what the change says."""
        packets = []
        for i in range(2):
            l4_args = {'seq': 1000 + 60 * i} if proto == TCP else {}
            ip_args = {'ident': 0x1000 + i} if v == 4 else {}
            for key, value in change.items() if i else ():
                args = l4_args if key in ('ports', 'flags', 'options', 'urgent') else ip_args
                args[key] = value
            body = (tcp if proto == TCP else udp)(payload(60, 110 + i), v=v, **l4_args)
            packet = (ip4 if v == 4 else ip6)(proto, body, **ip_args)
            packets.append(finish(packet, find_l4(packet)[1], 16 if proto == TCP else 6))
        return packets

    for name, change, v, proto in (
            ('tcp4-port', {'ports': (40001, 8444)}, 4, TCP),
            ('tcp6-flow-label', {'first': 0x60000001}, 6, TCP),
            ('tcp6-class', {'first': 0x60200000}, 6, TCP),
            ('tcp6-hop-limit', {'hop_limit': 60}, 6, TCP),
            ('tcp6-options', {'options': stamps}, 6, TCP),
            ('tcp6-syn', {'flags': ACK | SYN}, 6, TCP),
            ('tcp6-urg', {'flags': ACK | URG, 'urgent': 1}, 6, TCP),
            ('tcp6-ece', {'flags': ACK | ECE}, 6, TCP),
            ('tcp6-exts', {'exts': exts}, 6, TCP),
            ('tcp4-frag', {'frag': 0x2000}, 4, TCP),
            ('udp4-port', {'ports': (40002, 8443)}, 4, UDP),
            ('udp4-tos', {'tos': 3}, 4, UDP),
            ('udp4-ttl', {'ttl': 60}, 4, UDP),
            ('udp4-df', {'frag': 0}, 4, UDP),
            ('udp6-flow-label', {'first': 0x60000001}, 6, UDP),
            ('udp6-hop-limit', {'hop_limit': 62}, 6, UDP)):
        s.apart(name + '-differs', pair(change, v, proto), 'all is equal but one thing')


def siblings():
    s = Siblings()
    refusals(s)
    cuts(s)
    joins(s)
    return '\n'.join(s.lines) + '\n'


# ---- --check ----

def vectors(path):
    """Each vector as a dictionary: keyword -> list of values."""
    vector = {}
    for line in path.read_text().splitlines():
        word, _, rest = line.partition(' ')
        if word == 'end':
            yield vector
            vector = {}
        elif word not in ('', '#'):
            vector.setdefault(word, []).append(rest)


def same(ours, theirs, alt):
    if ours == theirs:
        return True
    at = find_l4(theirs)[1] + 16
    return alt and get16(theirs, at) in (0, 0xffff) and ours[:at] + ours[at + 2:] == \
        theirs[:at] + theirs[at + 2:]


def segments_agree(path):
    count = 0
    for v in vectors(path):
        if v['op'] != ['segment']:
            continue
        count += 1
        ours = segment(bytes.fromhex(v['vnet'][0]), bytes.fromhex(v['packet'][0]))
        theirs = [bytes.fromhex(x) for x in v['seg']]
        if len(ours) != len(theirs) or not all(same(a, b, 'alt' in v)
                                               for a, b in zip(ours, theirs)):
            yield '%s: other segments' % v['vector'][0]
    if not count:
        yield 'no vector'


def records_agree(path):
    count = 0
    for v in vectors(path):
        if v['op'] != ['coalesce'] or 'roundtrip' in v:
            continue
        count += 1
        packets = v['in']
        for group, header, out in zip(v['group'], v['vnet'], v['out']):
            pieces = segment(bytes.fromhex(header), bytes.fromhex(out))
            want = [packets[int(i)] for i in group.split(',')]
            if [p.hex() for p in pieces] != want:
                yield '%s: cutting a record does not give the packets back' % v['vector'][0]
    if not count:
        yield 'no vector'


def up_to_date(path):
    if path.read_text() != siblings():
        yield 'run siblings.py >siblings.vec'


def main():
    if sys.argv[1:] == []:
        sys.stdout.write(siblings())
        return 0
    if sys.argv[1:] != ['--check']:
        sys.stderr.write(__doc__)
        return 2
    tests = [(segments_agree, 'segment.vec'), (segments_agree, 'siblings.vec'),
             (records_agree, 'coalesce.vec'), (records_agree, 'siblings.vec'),
             (up_to_date, 'siblings.vec')]
    print('KTAP version 1\n1..%d' % len(tests))
    failed = False
    for i, (test, name) in enumerate(tests, 1):
        problems = list(test(HERE / name))
        failed = failed or bool(problems)
        for problem in problems:
            print('# ' + problem)
        print('%s %d %s of %s' % ('not ok' if problems else 'ok', i, test.__name__, name))
    return failed


sys.exit(main())
