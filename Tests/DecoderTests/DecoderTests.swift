import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import XCTest

/// Each decoder of external bytes with the first inputs of its fuzzer, and with mutations of them.
///
/// The properties that it must have are those that the fuzzer checks. An input that traps ends the test program: set
/// `PRINT_INPUTS` to print the name of each input before it is decoded.
final class DecoderTests: XCTestCase {
    func testATextReadsBackEqualOrIsRefused() throws { try check(.text, mutations: 400) }

    func testAnAdvertisementReadsBackEqualOrIsRefused() throws { try check(.advertisement, mutations: 40) }

    func testAnEventHasItsDataInsideAndReadsBackEqual() throws { try check(.event, mutations: 40) }

    func testACaptureGivesMeasurementsInOrder() throws { try check(.capture, mutations: 40) }

    func testARecordingOfAnotherProgramGivesStorableReadingsInOrder() throws { try check(.foreign, mutations: 40) }

    func testALineOfARecordingReadsBackEqualOrIsRefused() throws { try check(.recordingline, mutations: 40) }

    func testAVenueReadsBackEqualOrHasProblemsWithAPlace() throws { try check(.venue, mutations: 40) }

    func testADocumentReadsBackEqualOrHasAProblem() throws { try check(.document, mutations: 40) }

    func testAnArchiveStaysInsideItsFolderAndItsLimits() throws { try check(.archive, mutations: 40) }

    func testAConfigurationOfCompanionGivesAValidVenueOrProblemsWithTheirPlace() throws {
        try check(.companion, mutations: 40)
    }

    func testAFileOfOpenStreetMapGivesAValidVenueOrProblemsWithALine() throws { try check(.osm, mutations: 40) }

    func testAMessageOfAGatewayGivesMeasurementsOrAProblem() throws { try check(.gateway, mutations: 40) }

    func testARestoredFleetWorksAndRestoresAgain() throws { try check(.snapshot, mutations: 40) }

    func testOnlyASignatureMakesAMessageOfAnotherDeviceTrusted() throws { try check(.sharing, mutations: 40) }

    func testARequestHasASafePathAndNeedsTheToken() throws { try check(.request, mutations: 40) }

    private func check(_ fuzzer: Fuzzer, mutations count: Int, line: UInt = #line) throws {
        let first = try FirstInputs(of: fuzzer)
        guard !first.valid.isEmpty else { return XCTFail("\(fuzzer) has no first inputs", line: line) }
        for input in first.valid + first.crashes { run(fuzzer, input.bytes, input.name, line) }
        var mutation = Mutation(seed: 1)
        for number in 0..<count {
            let input = first.valid[number % first.valid.count]
            let other = first.valid[number / first.valid.count % first.valid.count]
            let bytes = mutation.change(input.bytes, other: other.bytes)
            run(fuzzer, bytes, "mutation \(number) of \(input.name)", line)
        }
    }

    private func run(_ fuzzer: Fuzzer, _ bytes: [UInt8], _ name: String, _ line: UInt) {
        if ProcessInfo.processInfo.environment["PRINT_INPUTS"] != nil { print("\(fuzzer): \(name)") }
        do throws(Finding) { try fuzzer.run(bytes) } catch { XCTFail("\(name): \(error)", line: line) }
    }
}

/// The inputs with which a fuzzer begins: valid ones, and those that once broke a decoder.
struct FirstInputs {
    /// The script that writes the inputs failed.
    struct Failure: Error, CustomStringConvertible {
        let name: String
        let status: Int32

        var description: String { ".ci/tools/fuzz-seeds \(name) ended with status \(status)" }
    }

    /// An input and the name of its file.
    typealias Input = (name: String, bytes: [UInt8])

    /// The inputs in the order of their names.
    let valid: [Input]
    /// The files of `Fixtures/crashes`.
    let crashes: [Input]

    /// Reads the inputs of a fuzzer, as `.ci/fuzz` does.
    init(of fuzzer: Fuzzer) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fuzz-seeds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(filePath: try FixtureFolder("../.ci/tools").file("fuzz-seeds"))
        process.arguments = [fuzzer.rawValue, folder.path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(name: fuzzer.rawValue, status: process.terminationStatus)
        }
        valid = try Self.inputs(
            FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { folder.path + "/" + $0 })
        crashes = try Self.inputs(FixtureFolder("crashes").files())
    }

    private static func inputs(_ paths: [String]) throws -> [Input] {
        try paths.map { path in
            let file = URL(filePath: path)
            return (file.lastPathComponent, Array(try Data(contentsOf: file)))
        }
    }
}

/// Deterministic changes of an input.
struct Mutation {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Returns an input with one to three changes.
    ///
    /// - Parameter other: an input from which a part may come.
    mutating func change(_ input: [UInt8], other: [UInt8]) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...3, using: &generator) { change(&bytes, other) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ other: [UInt8]) {
        switch Int.random(in: 0..<7, using: &generator) {
        case 0:
            // A flipped bit.
            guard let index = bytes.indices.randomElement(using: &generator) else { return }
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1:
            // A byte at a limit of its range, or a character with a meaning in a text.
            guard let index = bytes.indices.randomElement(using: &generator) else { return }
            bytes[index] = Self.values.randomElement(using: &generator) ?? 0
        case 2:
            // Only the beginning.
            bytes.removeLast(bytes.count - part(of: bytes).lowerBound)
        case 3:
            // A part is missing.
            bytes.removeSubrange(part(of: bytes))
        case 4:
            // A part is there twice.
            let part = part(of: bytes)
            bytes.insert(contentsOf: bytes[part], at: part.upperBound)
        case 5:
            // Everything is there twice.
            bytes += bytes
        default:
            // A part comes from another input.
            bytes.replaceSubrange(part(of: bytes), with: other[part(of: other)])
        }
    }

    private static let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF] + Array("09-.eE\"\\/[]{}:,<>&;".utf8)

    /// Returns a range of bytes, short ones more often.
    private mutating func part(of bytes: [UInt8]) -> Range<Int> {
        let start = Int.random(in: 0...bytes.count, using: &generator)
        let rest = bytes.count - start
        let length = Int(Double(rest) * generator.uniform() * generator.uniform() * generator.uniform())
        return start..<start + length
    }
}
