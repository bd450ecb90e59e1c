"""Networks, forward. Images have the axes batch, height, width, channel."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array4, Matrix, Vector


def relu(x):
    return np.maximum(x, 0)


def convolution(x, weights):
    """Without padding, stride 1; `weights` has the axes height, width, channel in, channel out."""
    size = weights.shape[0]
    height = x.shape[1] - size + 1
    width = x.shape[2] - size + 1
    out = np.empty((x.shape[0], height, width, weights.shape[3]), dtype=x.dtype)
    for i in range(height):
        for j in range(width):
            patch = x[:, i : i + size, j : j + size, :, np.newaxis]
            out[:, i, j, :] = np.sum(patch * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    return out


def max_pool(x):
    out = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def batch_norm(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


@autodiff(mode="both")
def softmax(x: Array4[np.float64]) -> Array4[np.float64]:
    largest = np.max(x, axis=-1, keepdims=True)
    out = np.exp(x - largest)
    total = np.sum(out, axis=-1, keepdims=True)
    return out / total


@autodiff(mode="both")
def mlp(x: Matrix, w1: Matrix, b1: Vector, w2: Matrix, b2: Vector, w3: Matrix, b3: Vector) -> Matrix:
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    x = x @ w3 + b3
    x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return x / np.sum(x, axis=-1, keepdims=True)


@autodiff(mode="both")
def conv2d(x: Array4[np.float64], weights: Array4[np.float64], bias: Vector) -> Array4[np.float64]:
    return convolution(x, weights) + bias


@autodiff(mode="both")
def lenet(
    x: Array4[np.float64],
    conv1: Array4[np.float64],
    conv1_bias: Vector,
    conv2: Array4[np.float64],
    conv2_bias: Vector,
    fc1: Matrix,
    fc1_bias: Vector,
    fc2: Matrix,
    fc2_bias: Vector,
    fc3: Matrix,
    fc3_bias: Vector,
    batch: int,
    features: int,
) -> Matrix:
    x = relu(convolution(x, conv1) + conv1_bias)
    x = max_pool(x)
    x = relu(convolution(x, conv2) + conv2_bias)
    x = max_pool(x)
    x = np.reshape(x, (batch, features))
    x = relu(x @ fc1 + fc1_bias)
    x = relu(x @ fc2 + fc2_bias)
    return x @ fc3 + fc3_bias


@autodiff(mode="both")
def resnet(
    x: Array4[np.float64], conv1: Array4[np.float64], conv2: Array4[np.float64], conv3: Array4[np.float64]
) -> Array4[np.float64]:
    """The bottleneck block of a residual network: convolutions of size 1, 3 and 1."""
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, conv1.shape[3]))
    padded[:, 1:-1, 1:-1, :] = convolution(x, conv1)
    y = relu(batch_norm(padded))
    y = relu(batch_norm(convolution(y, conv2)))
    y = batch_norm(convolution(y, conv3))
    return relu(y + x)
