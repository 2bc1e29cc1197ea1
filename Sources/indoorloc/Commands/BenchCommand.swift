import Foundation
import IndoorLocalization

/// Measures how fast the package is on this machine.
struct BenchCommand: Command {
    static let syntax = CommandSyntax(
        name: "bench", operands: "", operandCount: 0...0,
        summary: "measure how fast the package is on this machine",
        details: """
            Measures on one thread, each benchmark in turns with the same work in plain C where there is such, after a
            warm-up; prints the median of 31 rounds, the ratio, and how often memory was asked for. Compare ratios: a
            machine that is busy makes both slower. Build with '-c release', or the figures mean nothing.

            example: swift run -c release indoorloc bench
            """,
        options: [CommandOption(name: "json", help: "print one JSON object instead of a table")])

    private let isJSON: Bool

    init(_ arguments: ParsedArguments) throws { isJSON = arguments.has("json") }

    func run() async throws {
        #if DEBUG
            StandardError.write("indoorloc: built for debugging: the figures mean nothing\n")
        #endif
        let results = try await Self.decoding()
        try StandardOutput.write(isJSON ? Self.json(results) : Self.table(results))
    }

    /// Benchmarks of the way from bytes to sightings.
    static func decoding() async throws -> [BenchResult] {
        let bench = try DecodeBench(advertisements: 10_000)
        let timer = BenchTimer()
        var sums = (DecodeBench.Sum(), DecodeBench.Sum())
        let decode = try await timer.measure(
            "decode", unit: "advertisement", count: bench.ranges.count, { sums.0 = bench.decode() },
            reference: { sums.1 = bench.decodeInC() })
        guard sums.0 == sums.1, sums.0.count > 0 else { throw BenchFailure(name: decode.name) }
        let stream = try await timer.measure("decode-and-stream", unit: "advertisement", count: bench.ranges.count) {
            sums.0 = try await bench.decodeThroughStream()
        }
        guard sums.0 == sums.1 else { throw BenchFailure(name: stream.name) }
        return [decode, stream]
    }

    private static func table(_ results: [BenchResult]) -> String {
        var text = ["benchmark", "unit", "ns", "ns in C", "ratio", "allocations"].row + "\n"
        for result in results {
            let numbers = [result.nanoseconds, result.reference, result.ratio, result.allocations]
            let cells = numbers.map { number in number.map { String(format: "%.2f", $0) } ?? "-" }
            text += ([result.name, result.unit] + cells).row + "\n"
        }
        return text
    }

    private static func json(_ results: [BenchResult]) -> String {
        let objects = results.map { result in
            var json = JSONText()
            json.add("name", result.name)
            json.add("unit", result.unit)
            json.add("nanoseconds", result.nanoseconds, decimals: 2)
            json.add("reference", result.reference, decimals: 2)
            json.add("ratio", result.ratio, decimals: 3)
            json.add("allocations", result.allocations, decimals: 3)
            return json.text
        }
        return "{\"benchmarks\":[\(objects.joined(separator: ","))]}\n"
    }
}

/// A benchmark that did not do the same work as what it is compared with.
struct BenchFailure: Error, CustomStringConvertible {
    let name: String
    var description: String { "the benchmark '\(name)' and the C code it is compared with found different things" }
}

extension [String] {
    /// Cells of a table's line, the first two to the left.
    fileprivate var row: String {
        let widths = [20, 16, 12, 12, 8, 12]
        return zip(self, widths).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: Swift.max(0, cell.1 - cell.0.count))
            return index < 2 ? cell.0 + padding : padding + cell.0
        }.joined()
    }
}
