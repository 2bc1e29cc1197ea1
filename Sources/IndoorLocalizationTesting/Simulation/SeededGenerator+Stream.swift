import IndoorLocalization

extension SeededGenerator {
    /// Returns a generator that is independent of those for other purposes with the same seed.
    ///
    /// Adding a sensor or removing a beacon therefore does not change the other random numbers of a walk.
    static func stream(_ parts: UInt64...) -> SeededGenerator {
        SeededGenerator(seed: seed(parts))
    }

    /// Returns one seed from several parts.
    static func seed(_ parts: [UInt64]) -> UInt64 {
        parts.reduce(0) { seed, part in
            var generator = SeededGenerator(seed: seed ^ part)
            return generator.next()
        }
    }
}

extension BeaconIdentity {
    /// A seed derived from the identity.
    var seed: UInt64 { SeededGenerator.seed([uuid.high, uuid.low, UInt64(major) << 16 | UInt64(minor)]) }
}
