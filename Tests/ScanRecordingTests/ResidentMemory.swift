import FoundationEssentials
import XCTest

/// The resident memory of this process.
enum ResidentMemory {
    static func kibibytes() throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
        let line = try XCTUnwrap(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try XCTUnwrap(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
}
