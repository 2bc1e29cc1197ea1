import ForeignRecordings
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// The walk `one-floor` as other programs would write its first seconds.
enum ForeignFixture {
    /// The seconds of the walk in the samples.
    static let length = Instant(seconds: 6)
    /// The time of its first reading that the samples state: 1 January 2026.
    static let start: Int64 = 1_767_225_600_000_000
    /// The settings with which each sample is read.
    static var settings: ForeignRecordingSettings {
        var settings = ForeignRecordingSettings()
        settings.map = 1
        settings.mapHeight = 20
        return settings
    }

    /// The path of a sample.
    static func path(_ name: String) throws -> String { try FixtureFolder("foreign").file(name) }

    /// The walk's entries within the time of the samples.
    static func walk() throws -> [RecordingEntry] {
        var reader = try RecordingReader(path: FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"))
        return try reader.readAll().filter { entry in entry.instant.map { $0 < length } == true }
    }

    /// The walk's sightings within the time of the samples.
    static func sightings() throws -> [Sighting] { try walk().compactMap(sighting) }

    /// The sighting of an entry: a beacon line, or the beacon in an advertisement.
    static func sighting(_ entry: RecordingEntry) -> Sighting? {
        guard case .measurement(let reading) = entry else { return nil }
        switch reading {
        case .sighting(let sighting): return sighting
        case .advertisement(let heard):
            guard case .beacon(let frame)? = try? BeaconFrame.decode(heard.data.span) else { return nil }
            return Sighting(
                instant: heard.instant, beacon: frame.beacon, rssi: heard.rssi,
                measuredPower: frame.measuredPower.map(Double.init), address: heard.address)
        default: return nil
        }
    }

    /// Reads a file, detecting its format.
    static func read(
        _ path: String, _ settings: ForeignRecordingSettings = settings,
        strictness: RecordingReader.Strictness = .strict
    ) throws -> (format: ForeignFormat, entries: [RecordingEntry], tally: ForeignRecordingReader.Tally, start: Int64?) {
        switch try ConvertibleFile(path: path, settings: settings, strictness: strictness) {
        case .recorded: throw CocoaError(.fileReadUnknown)
        case .foreign(var reader):
            let entries = try reader.readAll()
            return (reader.format, entries, reader.tally, reader.startMicroseconds)
        }
    }

    /// Decodes bytes that arrive in pieces.
    static func decode(
        _ bytes: [UInt8], as format: ForeignFormat, _ settings: ForeignRecordingSettings = settings, pieces: Int = .max
    ) -> (entries: [RecordingEntry], problems: [ForeignProblem]) {
        var decoder = ForeignDecoder(format: format, settings: settings)
        var rest = bytes[...]
        var (entries, problems) = ([RecordingEntry](), [ForeignProblem]())
        var database: KismetDatabase?
        if format == .kismetDatabase {
            do throws(ForeignProblem) { database = try KismetDatabase(path: "", image: bytes) } catch {
                return ([], [error])
            }
        }
        while true {
            do throws(ForeignProblem) {
                switch try decoder.next() {
                case .entry(let entry): entries.append(entry)
                case .end: return (entries, problems)
                case .needsMore:
                    if let database {
                        do throws(ForeignProblem) { try decoder.fill(from: database) } catch {
                            return (entries, problems + [error])
                        }
                        continue
                    }
                    decoder.fill { bytes in
                        bytes += rest.prefix(pieces)
                        rest = rest.dropFirst(pieces)
                    }
                }
            } catch {
                problems.append(error)
            }
        }
    }
}

extension XCTestCase {
    /// Writes a file into a folder that is deleted after the test; returns its path.
    func temporaryFile(_ name: String, _ bytes: [UInt8]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: name)
        try Data(bytes).write(to: file)
        return file.path
    }

    /// Reads text as a format; returns the error's description without the folder, or nil without an error.
    func failure(
        _ text: String, as format: ForeignFormat, _ settings: ForeignRecordingSettings = ForeignRecordingSettings()
    ) throws -> String? { try failure(Array(text.utf8), as: format, settings) }

    func failure(
        _ bytes: [UInt8], as format: ForeignFormat, _ settings: ForeignRecordingSettings = ForeignRecordingSettings()
    ) throws -> String? {
        let path = try temporaryFile("file", bytes)
        do throws(ForeignRecordingError) {
            var reader = try ForeignRecordingReader(path: path, format: format, settings: settings)
            _ = try reader.readAll()
            return nil
        } catch {
            XCTAssertEqual(error.file, path)
            return error.description.replacingOccurrences(of: path, with: "file")
        }
    }
}
