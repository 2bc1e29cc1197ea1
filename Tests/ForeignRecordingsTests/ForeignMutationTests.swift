import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

/// Damaged samples of each format.
final class ForeignMutationTests: XCTestCase {
    private static let samples: [(name: String, format: ForeignFormat)] = [
        ("walk.csv", .csv), ("hci.pcap", .pcap), ("link-layer.pcap", .pcap), ("nordic.pcapng", .pcap),
        ("without-signal.pcap", .pcap), ("kismet.json", .kismet), ("theengs.log", .mqtt), ("espresense.log", .mqtt),
        ("bleak.jsonl", .bleak),
    ]
    private static let seed: UInt64 = 20

    /// The start and the end of a sample, so that its last lines of other kinds take part.
    private func bytes(_ name: String) throws -> [UInt8] {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: ForeignFixture.path(name))))
        let isText = !name.contains("pcap")
        return bytes.count < 3000 ? bytes : Array(bytes.prefix(2000)) + (isText ? bytes.suffix(1000) : [])
    }

    /// Changes, removes, repeats and inserts bytes.
    private func damage(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 1...40, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            default:
                bytes.insert(
                    contentsOf: Array("\"}\n,;\t{[-9e99".utf8.shuffled(using: &generator).prefix(3)), at: place)
            }
        }
    }

    func testADamagedSampleGivesEntriesInOrderThatARecordingStoresOrErrors() throws {
        var generator = SeededGenerator(seed: Self.seed)
        var settings = ForeignFixture.settings
        settings.spacing = .milliseconds(20)
        for (name, format) in Self.samples {
            let sample = try bytes(name)
            settings.tag = name == "espresense.log" ? "phone:walker" : nil
            var (entries, problems) = (0, 0)
            for round in 0..<400 {
                var bytes = sample
                damage(&bytes, using: &generator)
                let result = ForeignFixture.decode(bytes, as: format, settings, pieces: 100)
                entries += result.entries.count
                problems += result.problems.count
                let instants = result.entries.compactMap(\.instant)
                guard instants == instants.sorted() else {
                    return XCTFail("\(name), seed \(Self.seed), round \(round)")
                }
                var decoder = RecordDecoder()
                for entry in result.entries {
                    guard let line = try? RecordEncoder.line(for: entry), case .entry? = try? decoder.decode(line.span)
                    else { return XCTFail("\(name), seed \(Self.seed), round \(round): \(entry)") }
                }
                for problem in result.problems {
                    let error = ForeignRecordingError(
                        file: "a", format: format, field: problem.field, problem: problem.problem)
                    XCTAssertTrue(error.description.hasSuffix("."), "\(error)")
                }
            }
            XCTAssertGreaterThan(problems, 0, name)
            if name != "without-signal.pcap" { XCTAssertGreaterThan(entries, 200, name) }
        }
    }
}
