import FoundationEssentials
import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import XCTest

final class GatewayFixtureTests: XCTestCase {
    /// The formats whose messages are fixtures. The own format has fixtures of its own.
    static let formats = GatewayFormat.allCases.filter { $0 != .indoorloc }

    static func fixtures(of format: GatewayFormat) throws -> [GatewayFixture] {
        try FixtureFolder("gateways/\(format.rawValue)").files().filter { !$0.hasSuffix(".txt") }.map {
            try GatewayFixture(message: $0, format: format)
        }
    }

    static func accepted() throws -> [GatewayFixture] {
        try formats.flatMap { try fixtures(of: $0) }.filter { $0.error == nil }
    }

    func testEveryAcceptedMessageHasTheReadingsOfItsFixture() throws {
        for fixture in try Self.accepted() {
            let readings = try GatewayDecoder().readings(
                topic: fixture.topic, payload: fixture.payload, format: fixture.format)
            XCTAssertEqual(readings.map(GatewayFixture.line(of:)), fixture.readings, fixture.path)
        }
    }

    func testTheDecoderDetectsTheFormatOfEveryAcceptedMessage() throws {
        for fixture in try Self.accepted() {
            let readings = try GatewayDecoder().readings(topic: fixture.topic, payload: fixture.payload)
            XCTAssertEqual(readings.map(GatewayFixture.line(of:)), fixture.readings, fixture.path)
        }
    }

    func testEveryRejectedMessageThrowsTheErrorOfItsFixture() throws {
        for fixture in try Self.formats.flatMap(Self.fixtures(of:)) {
            guard let error = fixture.error else { continue }
            XCTAssertThrowsError(
                try GatewayDecoder().readings(topic: fixture.topic, payload: fixture.payload, format: fixture.format),
                fixture.path
            ) { XCTAssertEqual("\($0)", error, fixture.path) }
        }
    }

    func testEveryFormatHasAcceptedAndRejectedMessages() throws {
        for format in Self.formats {
            let fixtures = try Self.fixtures(of: format)
            XCTAssertTrue(fixtures.contains { $0.error == nil && !$0.readings.isEmpty }, format.rawValue)
            XCTAssertTrue(fixtures.contains { $0.error != nil }, format.rawValue)
        }
    }

    func testTheFoldersContainNothingButFixtures() throws {
        for format in Self.formats {
            let files = try FixtureFolder("gateways/\(format.rawValue)").files()
            let messages = files.filter { $0.hasSuffix(".json") || $0.hasSuffix(".bin") }
            XCTAssertEqual(files, (messages + messages.map(GatewayFixture.expectation(of:))).sorted())
        }
    }
}
