import FoundationEssentials
import IndoorLocalization
import XCTest

/// One file of `Fixtures/advertisements`: `name: value` lines; those that begin with `#` are for people.
struct AdvertisementFixture {
    let path: String
    let data: [UInt8]
    let fields: [String: String]

    init(path: String) throws {
        self.path = path
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Malformed(path: path, line: String(line)) }
            fields[String(parts[0])] = parts[1].trimmingPrefix { $0 == " " }.description
        }
        data = try XCTUnwrap(fields.removeValue(forKey: "hex"), path).split(separator: " ").map {
            try XCTUnwrap(UInt8($0, radix: 16), path)
        }
        self.fields = fields
    }

    struct Malformed: Error {
        let path: String
        let line: String
    }
}
