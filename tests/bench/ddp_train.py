"""One rank of a training with PyTorch's DistributedDataParallel and gloo, for tests/bench/ddp.

Models as jabas-run's: gpt (4 layers, width 128, 4 heads, 64 bytes) and resnet18 (3x3 stem, 32x32 images, 10 classes),
SGD with momentum 0.9. Rank 0 prints the median seconds from the end of one step to that of the next.
"""
import argparse
import math
import pathlib
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class GptLayer(nn.Module):
    def __init__(self, width, heads, length, dropout):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)
        self.later = torch.ones(length, length, dtype=torch.bool).triu(1)  # no buffer: gloo cannot send bool

    def attention(self, values):
        count, length, width = values.shape
        depth = width // self.heads
        query, key, value = self.qkv(values).view(count, length, 3, self.heads, depth).permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / math.sqrt(depth)
        weights = scores.masked_fill(self.later, -math.inf).softmax(-1)
        return self.projection((weights @ value).transpose(1, 2).reshape(count, length, width))

    def forward(self, values):
        values = values + self.dropout(self.attention(self.norm1(values)))
        return values + self.dropout(self.fc2(F.gelu(self.fc1(self.norm2(values)))))


class Gpt(nn.Module):
    def __init__(self, layers=4, width=128, heads=4, length=64, dropout=0.1):
        super().__init__()
        self.tokens = nn.Embedding(256, width)
        self.positions = nn.Parameter(torch.randn(length, width) * 0.02)
        nn.init.normal_(self.tokens.weight, 0, 0.02)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(*(GptLayer(width, heads, length, dropout) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, inputs):
        values = self.dropout(self.tokens(inputs) + self.positions)
        return F.linear(self.norm(self.layers(values)), self.tokens.weight)


class ResNetBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, values):
        hidden = F.relu(self.norm1(self.conv1(values)))
        return F.relu(self.norm2(self.conv2(hidden)) + self.shortcut(values))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
        blocks, inputs = [], 64
        for stage, outputs in enumerate((64, 128, 256, 512)):
            for block in range(2):
                blocks.append(ResNetBlock(inputs, outputs, 2 if stage > 0 and block == 0 else 1))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(512, 10)

    def forward(self, images):
        values = self.blocks(F.relu(self.norm(self.conv(images))))
        return self.fc(values.mean((2, 3)))


def data_of(model):
    """Inputs and labels of some thousand samples."""
    if model == "gpt":
        files = sorted(p for p in pathlib.Path("/usr/share/common-licenses").iterdir() if p.is_file())
        text = torch.tensor(list(b"".join(p.read_bytes() for p in files)))
        count = (len(text) - 1) // 64
        return text[: 64 * count].view(count, 64), text[1 : 64 * count + 1].view(count, 64)
    return torch.randn(1000, 3, 32, 32), torch.randint(10, (1000,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=("gpt", "resnet18"), required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--rendezvous", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.rank)
    dist.init_process_group("gloo", init_method="file://" + options.rendezvous, rank=options.rank, world_size=2)
    inputs, labels = data_of(options.model)
    model = nn.parallel.DistributedDataParallel(Gpt() if options.model == "gpt" else ResNet18())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    order = torch.randperm(len(inputs))
    ends = []
    for step in range(options.steps):
        first = (2 * step + options.rank) * options.batch
        index = order[(torch.arange(options.batch) + first) % len(order)]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs[index]).flatten(0, -2), labels[index].flatten())
        loss.backward()
        optimizer.step()
        loss.item()
        ends.append(time.monotonic())
    if options.rank == 0:
        skipped = options.steps // 4
        print(statistics.median(b - a for a, b in zip(ends[skipped:], ends[skipped + 1 :])))
    dist.destroy_process_group()


main()
