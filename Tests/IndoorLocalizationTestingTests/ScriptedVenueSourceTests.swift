import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import XCTest

final class ScriptedVenueSourceTests: XCTestCase {
    private struct Broken: Error {}

    private final class ReportedProgress: Sendable {
        let fractions = Mutex<[Double]>([])
    }

    private let venue = Venue(id: 1, name: "office", maps: [])

    func testASourceAnswersImmediately() async throws {
        let source = ScriptedVenueSource([venue])
        let reported = ReportedProgress()
        let catalogue = try await source.catalogue()
        let packet = try await source.packet(for: 1) { fraction in reported.fractions.withLock { $0.append(fraction) } }
        XCTAssertEqual(catalogue, [VenueSummary(of: venue)])
        XCTAssertEqual(packet, venue)
        XCTAssertEqual(reported.fractions.withLock { $0 }, [1])
        XCTAssertEqual(source.requests, [.catalogue, .packet(1)])
    }

    func testAnUnknownVenueIsAnError() async {
        do {
            _ = try await ScriptedVenueSource([venue]).packet(for: 2) { _ in }
            XCTFail("no error")
        } catch { XCTAssertEqual((error as? LocalizationError)?.code, .generic) }
    }

    func testASourceFailsAsOftenAsTheScriptStates() async throws {
        let source = ScriptedVenueSource([venue])
        source.change { $0.catalogueFailures = [Broken(), Broken()] }
        var failures = 0
        for _ in 0..<3 {
            do { _ = try await source.catalogue() } catch { failures += 1 }
        }
        XCTAssertEqual(failures, 2)
    }

    func testARequestWaitsUntilItIsReleased() async throws {
        let source = ScriptedVenueSource([venue])
        source.change { $0.isHeld = true }
        let first = Task { try await source.catalogue() }
        try await source.waitForRequests(1)
        let second = Task { try await source.packet(for: 1) { _ in } }
        try await source.waitForRequests(2)
        source.release(2)
        _ = try await second.value
        XCTAssertEqual(source.answerCount, 1)
        source.release()
        _ = try await first.value
        XCTAssertEqual(source.answerCount, 2)
    }

    func testACancelledRequestIsAnsweredOnlyIfTheScriptRequiresIt() async throws {
        for answersWhenCancelled in [false, true] {
            let source = ScriptedVenueSource([venue])
            source.change {
                $0.isHeld = true
                $0.answersWhenCancelled = answersWhenCancelled
            }
            let request = Task { try await source.catalogue() }
            try await source.waitForRequests(1)
            request.cancel()
            if answersWhenCancelled { source.release() }
            let isAnswered = await (try? request.value) != nil
            XCTAssertEqual(isAnswered, answersWhenCancelled)
        }
    }
}
