import IndoorLocalization
import XCTest

final class SharingVocabularyTests: XCTestCase {
    func testANameHasOneToSixtyFourCharacters() {
        XCTAssertEqual(SharingNameError(of: ""), .empty)
        for name in ["a", "forklift-7", "Gabelstapler Süd", "a$", String(repeating: "ö", count: 64)] {
            XCTAssertNil(SharingNameError(of: name), name)
        }
        XCTAssertEqual(SharingNameError(of: String(repeating: "a", count: 65)), .tooLong(count: 65))
        // One character for people, seventy scalars for a broker.
        XCTAssertEqual(
            SharingNameError(of: "e" + String(repeating: "\u{301}", count: 69)), .tooLong(count: 70))
    }

    func testANameHasNoSpecialCharactersOfTopics() {
        for (name, scalar): (String, Unicode.Scalar) in [
            ("a/b", "/"), ("a+", "+"), ("#", "#"), ("$SYS", "$"), ("a\0b", "\0"), ("a\nb", "\n"), ("\u{7F}", "\u{7F}"),
            ("a\u{85}", "\u{85}"), ("a\u{FFFF}", "\u{FFFF}"),
        ] {
            let error = SharingNameError(of: name)
            XCTAssertEqual(error, .forbidden(scalar, name: name))
            let text = error?.description ?? ""
            XCTAssertFalse(text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, text.debugDescription)
        }
    }

    func testADeviceIDRejectsInvalidNames() throws {
        XCTAssertEqual(try DeviceID("forklift-7").rawValue, "forklift-7")
        XCTAssertEqual(DeviceID(rawValue: "forklift-7")?.description, "forklift-7")
        XCTAssertNil(DeviceID(rawValue: "a/b"))
        XCTAssertThrowsError(try DeviceID("")) { XCTAssertEqual($0 as? SharingNameError, .empty) }
        XCTAssertLessThan(try DeviceID("a"), try DeviceID("b"))
    }

    func testASharedPositionHasAllFieldsOfThePosition() throws {
        let place = Position(
            instant: Instant(seconds: 5), venueID: 1, mapID: 10, point: MapPoint(x: 3, y: 4), radius: 2,
            label: "kitchen", coordinate: Coordinate(latitude: 52, longitude: 13), course: 90, speed: 1)
        let shared = SharedPosition(
            place, of: try DeviceID("cart"), name: "Cart", in: "hall", level: -1, sentAt: 1_700_000_000)
        XCTAssertEqual(
            shared,
            SharedPosition(
                device: try DeviceID("cart"), name: "Cart", room: "hall", venueID: 1, mapID: 10, level: -1, x: 3, y: 4,
                radius: 2, label: "kitchen", coordinate: Coordinate(latitude: 52, longitude: 13), course: 90,
                sentAt: 1_700_000_000))
        XCTAssertEqual(shared.point, place.point)
        XCTAssertTrue(shared.isValid)
    }

    func testAPositionWithANumberOutOfItsRangeIsNotValid() throws {
        let valid = SharedPosition(
            device: try DeviceID("cart"), room: "hall", venueID: 1, mapID: 10, x: 3, y: 4, radius: 0, sentAt: 0)
        XCTAssertTrue(valid.isValid)
        let changes: [(String, (inout SharedPosition) -> Void)] = [
            ("x is nan", { $0.x = .nan }), ("y is inf", { $0.y = .infinity }), ("radius is -1.0", { $0.radius = -1 }),
            ("radius is nan", { $0.radius = .nan }), ("course is 360.0", { $0.course = 360 }),
            ("course is -1.0", { $0.course = -1 }), ("course is nan", { $0.course = .nan }),
            ("latitude is 91.0", { $0.coordinate = Coordinate(latitude: 91, longitude: 0) }),
            ("longitude is -181.0", { $0.coordinate = Coordinate(latitude: 0, longitude: -181) }),
            ("sentAt is inf", { $0.sentAt = .infinity }), ("the name \"a/b\" contains \"/\"", { $0.room = "a/b" }),
        ]
        for (what, change) in changes {
            var position = valid
            change(&position)
            XCTAssertFalse(position.isValid, what)
            let text = position.problem?.description ?? ""
            XCTAssertTrue(text.hasPrefix(what), "\(text), not \(what)")
        }
        XCTAssertNil(valid.problem)
    }
}

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
