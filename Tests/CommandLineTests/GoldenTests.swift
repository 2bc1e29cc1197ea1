import XCTest

/// The golden files in `Fixtures/golden`, with the tool of this build. `.ci/golden` compares them with more builds, threads
/// and processors.
final class GoldenTests: XCTestCase {
    private func check(_ cases: String, _ tool: String? = nil) throws -> Tool.Result {
        try Tool.run(
            ["--only", "^(\(cases))$", try tool ?? Tool.path()],
            program: Checkout.root().appending(path: "Fixtures/golden/check").path)
    }

    func testTheOutputsAreThoseOfTheGoldenFiles() throws {
        let cases = "replay-one-floor|replay-trilateration|replay-fingerprint|simulate|survey|rooms.*|route|coverage"
        let result = try check(cases)
        XCTAssertEqual(result.status, 0, "renew them with .ci/golden --renew if this is intended:\n\(result.output)")
    }

    func testAnOtherOutputIsReported() throws {
        let result = try check("route", "/bin/echo")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(
            result.output.hasPrefix("route: the output differs from Fixtures/golden/route.txt"), result.output)
    }
}
