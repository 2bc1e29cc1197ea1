import Foundation
import IndoorLocalization

/// The command `bench`: measures the speed of the package on this machine.
struct BenchCommand: Command {
    static let syntax = CommandSyntax(
        name: "bench", operands: "", operandCount: 0...0,
        summary: "measure the speed of the package on this machine",
        details: """
            Measures on one thread after a warm-up. Some benchmarks alternate with the same work in plain C. The columns
            are the median time in nanoseconds, the time in C and the ratio of both, memory allocations per unit, the
            speed as a multiple of real time (the number of sessions at 1 Hz that this processor can run), and the bytes
            that a session holds. Compare ratios: a busy machine slows down both. Build with '-c release'; figures of a
            debug build are meaningless.

            example: swift run -c release indoorloc bench
            """,
        options: [
            CommandOption(name: "json", help: "print one JSON object instead of a table"),
            CommandOption(name: "only", argument: "NAME", help: "run only this benchmark; may be repeated"),
            CommandOption(
                name: "once", help: "do the work of each benchmark once after a warm-up, to count its instructions"),
            CommandOption(name: "data-set", argument: "DATASET", help: "also replay the longest track of a data set"),
        ])

    private let isJSON: Bool
    private let isCounted: Bool
    private let benchmarks: [Benchmark]

    init(_ arguments: ParsedArguments) throws {
        isJSON = arguments.has("json")
        isCounted = arguments.has("once")
        let all = Benchmark.all + (arguments.value("data-set").map { [Benchmark.dataSet($0)] } ?? [])
        let wanted = arguments.values["only"] ?? []
        for name in wanted where !all.contains(where: { $0.name == name }) {
            let names = all.map(\.name).joined(separator: ", ")
            throw UsageError(message: "--only must be one of \(names), not '\(name)'", command: "bench")
        }
        benchmarks = wanted.isEmpty ? all : all.filter { wanted.contains($0.name) }
    }

    func run() async throws {
        #if DEBUG
            StandardError.line("this is a debug build: the figures are meaningless")
        #endif
        let progress = ProgressLine()
        defer { progress.clear() }
        var results: [BenchResult] = []
        for benchmark in benchmarks {
            progress.show("bench: \(benchmark.name)")
            let result = try await BenchTimer.$isCounted.withValue(isCounted) {
                try await benchmark.run(benchmark.name)
            }
            results.append(result)
        }
        progress.clear()
        try StandardOutput.write(isJSON ? Self.json(results) : Self.table(results))
    }

    private static func table(_ results: [BenchResult]) -> String {
        var text = ["benchmark", "unit", "ns", "ns in C", "ratio", "allocations", "x real time", "bytes"].row + "\n"
        for result in results {
            let numbers: [(Double?, decimals: Int)] = [
                (result.nanoseconds, result.nanoseconds < 1000 ? 2 : 0), (result.reference, 2), (result.ratio, 2),
                (result.allocations, 2), (result.speed, 0), (result.bytes, 0),
            ]
            let cells = numbers.map { number, decimals in
                number.map { String(format: "%.\(decimals)f", $0) } ?? "-"
            }
            text += ([result.name, result.unit] + cells).row + "\n"
        }
        return text
    }

    private static func json(_ results: [BenchResult]) -> String {
        let objects = results.map { result in
            var json = JSONText()
            json.add("name", result.name)
            json.add("unit", result.unit)
            json.add("nanoseconds", result.nanoseconds, decimals: 3)
            json.add("reference", result.reference, decimals: 3)
            json.add("ratio", result.ratio, decimals: 3)
            json.add("allocations", result.allocations, decimals: 3)
            json.add("speed", result.speed, decimals: 1)
            json.add("bytes", result.bytes, decimals: 0)
            return json.text
        }
        return "{\"benchmarks\":[\(objects.joined(separator: ","))]}\n"
    }
}

extension [String] {
    /// The cells as a line of a table, the first two aligned left.
    fileprivate var row: String {
        let widths = [23, 17, 12, 9, 7, 13, 13, 10]
        return zip(self, widths).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: Swift.max(0, cell.1 - cell.0.count))
            return index < 2 ? cell.0 + padding : padding + cell.0
        }.joined()
    }
}
