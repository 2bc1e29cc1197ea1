/// Writes a recording of a simulated walk, or compares the engine with what is possible.
struct SimulateCommand: Command {
    private enum Work: Sendable {
        case walk(SimulatedWalk)
        case comparison(BoundComparison)
    }

    private let work: Work

    init(_ arguments: ParsedArguments) throws {
        let isComparison = arguments.has("bound")
        let excluded = isComparison ? Self.walkOptions : Self.boundOptions.map(\.name)
        if let option = excluded.first(where: arguments.has) {
            let message =
                isComparison ? "--bound and --\(option) don't go together" : "--\(option) goes with --bound alone"
            throw UsageError(message: message, command: Self.syntax.name)
        }
        work = isComparison ? .comparison(try BoundComparison(arguments)) : .walk(try SimulatedWalk(arguments))
    }

    func run() throws {
        switch work {
        case .walk(let walk): try walk.run()
        case .comparison(let comparison): try comparison.run()
        }
    }
}
