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
