import IndoorLocalization
import XCTest

final class PositionSharingErrorTests: XCTestCase {
    /// A way to the others that never fails, and says so by its type.
    private struct Silence: PositionSharing {
        var events: AsyncStream<SharingEvent> { AsyncStream { $0.finish() } }
        func connect() async {}
        func disconnect() async {}
        func join(_ room: String) async {}
        func leave(_ room: String) async {}
        func share(_ position: Position) async {}
        func send(_ text: String, tag: String, to room: String) async {}
    }

    /// What joining a room fails with, by its type.
    private func failure<Sharing: PositionSharing>(of sharing: Sharing) async -> Sharing.Failure? {
        do throws(Sharing.Failure) {
            try await sharing.join("hall")
            return nil
        } catch { return error }
    }

    func testAKnownServiceThrowsItsOwnErrorType() async {
        let sharing = ScriptedSharing()
        let none: ScriptedSharing.Failure? = await failure(of: sharing)
        XCTAssertNil(none)
        sharing.failing.update { $0 = ["join hall"] }
        let failure: ScriptedSharing.Failure? = await failure(of: sharing)
        XCTAssertEqual(failure, ScriptedSharing.Failure())
    }

    func testAServiceThatCannotFailNeedsNoTry() async {
        // Compiles only if nothing throws: also not what the protocol adds.
        await Silence().share(
            Position(instant: .zero, venueID: 1, mapID: 1, point: MapPoint(x: 0, y: 0), radius: 1), level: 2)
        let failure: Never? = await failure(of: Silence())
        XCTAssertNil(failure)
    }

    func testAnyServiceThrowsItsOwnError() async {
        let sharing = ScriptedSharing()
        sharing.failing.update { $0 = ["join hall"] }
        let any: any PositionSharing = sharing
        do {
            try await any.join("hall")
            XCTFail("it was joined")
        } catch { XCTAssertTrue(error is ScriptedSharing.Failure, "\(error)") }
    }
}
