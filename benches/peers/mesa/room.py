"""Room tick v0 as a Mesa model: the room is the Model, the person its one Agent."""

from dataclasses import dataclass

import mesa


@dataclass(frozen=True, slots=True)
class Interaction:
    """Something that the room offers."""

    need: int
    gain: int
    duration: int


class Xorshift:
    """The generator of the yardstick, in the place of `model.random`."""

    def __init__(self, seed):
        self.state = seed

    def two_bits(self):
        x = self.state
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        self.state = x
        return x & 3


class Person(mesa.Agent):
    """Has needs, and does one thing at a time."""

    def __init__(self, model):
        super().__init__(model)
        self.needs = [500] * 8
        self.doing = None
        self.left = 0

    def step(self):
        self.advance()
        self.decay()
        if self.doing is None:
            self.choose()

    def advance(self):
        if self.doing is None:
            return
        self.left -= 1
        if self.left == 0:
            done = self.model.interactions[self.doing]
            self.needs[done.need] = min(1000, self.needs[done.need] + done.gain)
            self.doing = None

    def decay(self):
        need = (self.model.steps - 1) % 8  # Mesa counts a step before it is made
        self.needs[need] = max(0, self.needs[need] - 1)

    def choose(self):
        scores = [self.score(offered) for offered in self.model.interactions]
        self.doing = scores.index(max(scores))
        self.left = self.model.interactions[self.doing].duration

    def score(self, offered):
        gap = 1000 - self.needs[offered.need]
        bits = self.model.generator.two_bits()
        return gap * gap // 1000 * offered.gain // offered.duration + bits


class Room(mesa.Model):
    """One person among twelve interactions."""

    def __init__(self):
        super().__init__(seed=1)
        self.generator = Xorshift(1)
        self.interactions = [Interaction(k % 8, 100 + 17 * k, 5 + 3 * k) for k in range(12)]
        Person(self)

    def step(self):
        self.agents.do("step")
