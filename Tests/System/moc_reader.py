#!/usr/bin/env python3
"""A reader that compares on its chip, as the kernel's vhci-hcd shows it: ELAN's protocol, as libfprint's recording of a real one has it.

Prints are kept by the id that the host has chosen for them. Fingers are names: connect to the socket /run/moc, send a name, read what became of the touch; "slots" tells what is kept. Who hangs up takes the finger away.
"""
import os, select, socket, struct, sys, threading, time
ALL = bytes.fromhex("1201000200000008F304880C04800102000109025300010100A0320904000008FF0000000921100100012215000705810240000107050102400001070582024000010705020240000107058302400001070503024000010705840240000107050402400001")
DEVICE, CONFIG = ALL[:18], ALL[18:]
STRINGS = {0: b"\x09\x04", 1: "ELAN".encode("utf-16le"), 2: "ELAN:ARM-M4".encode("utf-16le")}
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
lock = threading.RLock()
slots = {}          # number: (id with its two bytes before, finger)
ready = {3: [], 4: [], 1: [], 2: []}
waiting = {}        # seqnum: (ep, length)
want = None         # "verify" or "enroll"
pending = None
def log(*w): print("moc:", *w, flush=True)
def ret(seq, status, data=b"", length=None):
    ours.sendall(struct.pack(">IIIII", 3, seq, 0, 0, 0) + struct.pack(">iiiii", status, len(data) if length is None else length, 0, 0, 0) + b"\0" * 8 + data)
def push(ep, data):
    ready[ep].append(data); flush()
def flush():
    for seq, (ep, length) in sorted(waiting.items()):
        if ready[ep]:
            data = ready[ep].pop(0)[:length]; del waiting[seq]; ret(seq, 0, data)
def ident(raw): return bytes(raw[:3 + raw[2]])
def command(c):
    global want, pending
    with lock:
        want = None
        ready[3].clear(); ready[4].clear()
        if c[:3] == b"\x40\xff\x00": push(3, b"\x40\x03")
        elif c[:3] == b"\x40\xff\x14": push(3, b"\x40\x00")
        elif c[:2] == b"\x40\x19": push(3, b"\x80\x04")
        elif c[:2] == b"\x00\x0c": push(3, b"\x57\x00\x6b\x00")
        elif c[:3] == b"\x40\xff\x04": push(3, bytes([0x40, len(slots)]))
        elif c[:3] == b"\x40\xff\x22": push(3, bytes([0x40, int(any(i == ident(c[3:]) for i, _ in slots.values()))]))
        elif c[:3] == b"\x40\xff\x01": want = "enroll"
        elif c[:3] == b"\x40\xff\x73": want = "verify"
        elif c[:3] == b"\x40\xff\x11":
            i = ident(c[5:]); free = next(n for n in range(10) if n not in slots)
            slots[free] = (i, pending); log("kept", i[3:], "in", free, "finger", pending); push(3, b"\x40\x00")
        elif c[:3] == b"\x40\xff\x13":
            i = ident(c[3:]); gone = [n for n, (own, _) in slots.items() if own == i]
            for n in gone: del slots[n]
            log("deleted", i[3:], gone); push(3, b"\x40\x00")
        elif c[:2] == b"\x43\x21":
            own = slots.get(c[2]); push(3, (b"\x43\x00" + own[0] if own else b"\x43" + b"\xfe" * 1 + b"\xff" * 69).ljust(71, b"\0") if own else b"\x43\xfe" + b"\xff" * 69)
        elif c[:3] == b"\x40\xff\x02": pass
        else: log("unknown", c[:8].hex())
def touch(finger, c):
    global want, pending
    end = time.monotonic() + 25
    while time.monotonic() < end and not select.select([c], [], [], 0)[0]:
        with lock:
            if want and any(ep == 4 for ep, _ in waiting.values()):
                w, want = want, None
                if w == "enroll": pending = finger; push(4, b"\x40\x00")
                else:
                    n = next((n for n, (_, f) in sorted(slots.items()) if f == finger), None)
                    push(4, bytes([0x40, 0xfd if n is None else n]))
                return w
        time.sleep(0.05)
    return "nobody asked"
def control(seq, setup, length):
    kind, request, value, index, most = struct.unpack("<BBHHH", setup)
    data = b""
    if request == 6:
        t, n = value >> 8, value & 255
        if t == 1: data = DEVICE
        elif t == 2: data = CONFIG
        elif t == 3 and n in STRINGS: data = bytes([2 + len(STRINGS[n]), 3]) + STRINGS[n]
        else: return ret(seq, -32)
    elif request == 0 and kind & 0x80: data = b"\0\0"
    elif request == 8: data = b"\x01"
    ret(seq, 0, data[:most])
def exactly(n):
    b = b""
    while len(b) < n:
        c = ours.recv(n - len(b))
        if not c: os._exit(0)
        b += c
    return b
def serve():
    while True:
        head = exactly(48)
        cmd, seq, dev, inward, ep = struct.unpack(">IIIII", head[:20])
        if cmd == 1:
            flags, length, _, _, _ = struct.unpack(">Iiiii", head[20:40])
            data = b"" if inward else exactly(length)
            with lock:
                if ep == 0: control(seq, head[40:48], length)
                elif not inward:
                    ret(seq, 0, b"", len(data)); command(data)
                else:
                    waiting[seq] = (ep, length); flush()
        elif cmd == 2:
            which = struct.unpack(">I", head[20:24])[0]
            with lock:
                was = waiting.pop(which, None)
                ours.sendall(struct.pack(">IIIII", 4, seq, 0, 0, 0) + struct.pack(">i", -104 if was else 0) + b"\0" * 24)
threading.Thread(target=serve, daemon=True).start()
with open("/sys/devices/platform/vhci_hcd.0/attach", "w") as f: f.write(f"0 {theirs.fileno()} 65538 2")
theirs.close()
path = "/run/moc"
try: os.unlink(path)
except FileNotFoundError: pass
l = socket.socket(socket.AF_UNIX); l.bind(path); l.listen()
log("attached")
while True:
    c, _ = l.accept()
    finger = c.recv(100).decode().strip()
    def answer(c=c, finger=finger):
        if finger == "slots": c.sendall(repr({n: (i[3:], f) for n, (i, f) in slots.items()}).encode())
        else:
            try: c.sendall(touch(finger, c).encode())
            except OSError: pass
        c.close()
    threading.Thread(target=answer).start()
