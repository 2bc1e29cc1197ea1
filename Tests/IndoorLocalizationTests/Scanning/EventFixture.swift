import FoundationEssentials
import IndoorLocalization
import XCTest

/// One file of `Fixtures/captures/events`: an HCI event, the reports that it holds, and the error that ends it.
struct EventFixture {
    let name: String
    let event: [UInt8]
    let reports: [String]
    let error: String?

    init(path: String) throws {
        name = String(path.split(separator: "/").last ?? "")
        let lines = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
        func values(_ key: String) -> [String] {
            lines.filter { $0.hasPrefix(key + ":") }.map {
                String($0.dropFirst(key.count + 1).drop { $0 == " " })
            }
        }
        event = try values("hex").flatMap { $0.split(separator: " ") }.map {
            try XCTUnwrap(UInt8($0, radix: 16), path)
        }
        reports = values("report")
        error = values("error").first
        let known = lines.count { line in ["#", "hex:", "report:", "error:"].contains { line.hasPrefix($0) } }
        XCTAssertEqual(known, lines.count, "\(name) has a line that nobody reads")
    }

    /// A report as the fixtures write it.
    static func text(of report: AdvertisingReport, in event: [UInt8]) -> String {
        let properties: [(AdvertisingReport.Properties, String)] = [
            (.legacy, "legacy"), (.connectable, "connectable"), (.scannable, "scannable"), (.directed, "directed"),
            (.scanResponse, "scanResponse"),
        ]
        var words = properties.filter { report.properties.contains($0.0) }.map(\.1)
        words.append("\(report.dataStatus)")
        words.append(report.address.map { "\($0.kind?.rawValue ?? "unknown") \($0)" } ?? "anonymous")
        words.append("set \(report.setID.map { "\($0)" } ?? "-")")
        words.append("power \(report.transmitPower.map { "\($0)" } ?? "-")")
        words.append("rssi \(report.rssi)")
        let hex = event[report.data].map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
        words.append("data" + (hex.isEmpty ? "" : " " + hex.joined()))
        return words.joined(separator: " ")
    }

    /// All reports of an event, and what ended it.
    static func decode(_ event: [UInt8]) -> (reports: [AdvertisingReport], error: AdvertisingReportError?) {
        var iterator = AdvertisingReportIterator()
        var reports: [AdvertisingReport] = []
        do throws(AdvertisingReportError) {
            while let report = try iterator.next(in: event.span) { reports.append(report) }
            return (reports, nil)
        } catch {
            return (reports, error)
        }
    }
}
