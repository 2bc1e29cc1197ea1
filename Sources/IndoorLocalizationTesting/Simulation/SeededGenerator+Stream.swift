import IndoorLocalization

extension SeededGenerator {
    /// A generator whose numbers have nothing to do with those of other purposes of the same seed.
    ///
    /// So one sensor more, or one beacon less, leaves all other numbers of a walk as they are.
    static func stream(_ parts: UInt64...) -> SeededGenerator {
        SeededGenerator(seed: seed(parts))
    }

    /// One seed of many parts.
    static func seed(_ parts: [UInt64]) -> UInt64 {
        parts.reduce(0) { seed, part in
            var generator = SeededGenerator(seed: seed ^ part)
            return generator.next()
        }
    }
}

extension BeaconIdentity {
    /// The identity as parts of a seed.
    var seed: UInt64 { SeededGenerator.seed([uuid.high, uuid.low, UInt64(major) << 16 | UInt64(minor)]) }
}
