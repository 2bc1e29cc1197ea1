/// The first error of a command that completes its outputs after an error. A later one doesn't hide it, and is a warning.
struct FirstFailure {
    private var first: (any Error)?
    private let warn: (String) -> Void

    /// Creates the state before an error.
    ///
    /// - Parameter warn: reports a later error; by default, on standard error.
    init(warn: @escaping (String) -> Void = { StandardError.line($0, .warning) }) { self.warn = warn }

    /// Keeps the error, or reports it if there is an earlier one, unless both say the same.
    ///
    /// A reader that closes standard output, such as `| head`, isn't a failure.
    mutating func note(_ error: any Error) {
        if (error as? OutputError)?.isBrokenPipe == true { return }
        if let first {
            if "\(error)" != "\(first)" { warn("\(error)") }
        } else {
            first = error
        }
    }

    /// Throws the first error, if there is one.
    func check() throws {
        if let first { throw first }
    }
}
