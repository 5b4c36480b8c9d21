"""Exports a small residual network as TorchScript and trains it here with plain SGD.

usage: torchscript_export.py DATA_DIR OUT_DIR

Writes OUT_DIR/model.pt (initial state) and OUT_DIR/trained.bin: parameters in the order of
named_parameters(), then floating buffers in the order of named_buffers(), as float64.
Needs PyTorch; exit code 77 without it.
"""
import array
import struct
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

BATCH, STEPS, RATE, MOMENTUM = 16, 8, 0.05, 0.9


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(1, 4, 3, stride=2, padding=1)
        self.blocks = torch.nn.Sequential(Block(4), Block(4))
        self.head = torch.nn.Linear(4, 10)

    def forward(self, x):
        return self.head(self.blocks(torch.relu(self.stem(x))).mean((2, 3)))


def read_idx(path):
    with open(path, "rb") as file:
        magic = struct.unpack(">I", file.read(4))[0]
        shape = struct.unpack(f">{magic & 255}I", file.read(4 * (magic & 255)))
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).reshape(shape)


def main(data, out):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    images = (read_idx(f"{data}/train-images-idx3-ubyte").double() / 255 - 0.2860) / 0.3530
    labels = read_idx(f"{data}/train-labels-idx1-ubyte").long()
    model = torch.jit.script(Net())
    model.save(f"{out}/model.pt")
    model.double()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[part, None]), labels[part]).backward()
        optimizer.step()
    values = [p for _, p in model.named_parameters()]
    values += [b for _, b in model.named_buffers() if b.is_floating_point()]
    numbers = array.array("d")
    for value in values:
        numbers.extend(value.detach().double().flatten().tolist())
    with open(f"{out}/trained.bin", "wb") as file:
        numbers.tofile(file)


main(*sys.argv[1:])
