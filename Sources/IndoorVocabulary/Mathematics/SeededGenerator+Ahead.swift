import CMath

extension SeededGenerator {
    /// The generator as the loops in C take it, to make many draws at once; `skip(_:)` passes over them here.
    package var ahead: cmath_generator { cmath_generator(state: state, step: Self.step) }
}
