import Foundation
import XCTest
@testable import LiveMap

final class LiveMapPageTests: XCTestCase {
    func testEveryFileOfTheFolderIsInTheTable() throws {
        let target = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/CLiveMapPage")
        let folder = target.appendingPathComponent("page")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let descriptions = ["openapi-tags.json", "openapi.json"]
        XCTAssertEqual(LiveMapPage.files.map(\.name).filter { !descriptions.contains($0) }, names)
        for name in descriptions {
            let description = try Data(contentsOf: target.appendingPathComponent(name))
            XCTAssertTrue(LiveMapPage.file(named: name)?.bytes == Array(description), "\(name) differs")
        }
        for name in names {
            let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
            XCTAssertTrue(LiveMapPage.file(named: name)?.bytes == Array(bytes), "\(name) differs")
        }
    }

    func testAFileHasItsMediaTypeAndAnEntityTagOfItsBytes() throws {
        let page = try XCTUnwrap(LiveMapPage.file(named: "index.html"))
        XCTAssertEqual(page.mediaType, "text/html; charset=utf-8")
        XCTAssertEqual(LiveMapPage.file(named: "main.js")?.mediaType, "text/javascript; charset=utf-8")
        XCTAssertEqual(LiveMapPage.file(named: "page.css")?.mediaType, "text/css; charset=utf-8")
        XCTAssertTrue(page.etag.hasPrefix("\"") && page.etag.hasSuffix("\""))
        XCTAssertEqual(Set(LiveMapPage.files.map(\.etag)).count, LiveMapPage.files.count)
        XCTAssertNil(LiveMapPage.file(named: "../Package.swift"))
    }

    func testAModuleImportsOnlyModulesOfTheTable() {
        var imports = 0
        for file in LiveMapPage.files where file.name.hasSuffix(".js") {
            for line in lines(of: file) where line.hasPrefix("import ") {
                imports += 1
                let module = line.split(separator: "\"")[1].dropFirst(2)
                XCTAssertNotNil(LiveMapPage.file(named: String(module)), "\(file.name) imports \(module)")
            }
        }
        XCTAssertGreaterThan(imports, 50)
    }

    func testNoFileMakesMarkupFromTextOrHasInlineStyles() {
        let forbidden = [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", " style=\"",
        ]
        for file in LiveMapPage.files where file.mediaType != "application/json" {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for word in forbidden { XCTAssertFalse(text.contains(word), "\(file.name) has \(word)") }
            XCTAssertLessThanOrEqual(lines(of: file).count, 400, file.name)
        }
    }

    func testADocumentRefersToNoOtherFileAndNoNetwork() throws {
        let page = try text(of: sample())
        XCTAssertFalse(page.contains("http://") || page.contains("https://"))
        XCTAssertFalse(page.contains(" src="))
        for part in page.components(separatedBy: "href=\"").dropFirst() {
            XCTAssertTrue(part.hasPrefix("#") || part.hasPrefix("data:"), String(part.prefix(40)))
        }
        XCTAssertFalse(page.contains("\nimport ") || page.contains("\nexport "))
    }

    func testADocumentIsReadBackFromItsPage() throws {
        let document = sample()
        let json = try XCTUnwrap(between("id=\"document\">", "</script>", in: text(of: document)))
        XCTAssertEqual(try JSONDecoder().decode(LiveMapDocument.self, from: Data(json.utf8)), document)
    }

    func testATextOfADocumentCannotEndTheScript() throws {
        var document = sample()
        document.overview.title = "</script><script>alert(1)</script><!--\u{2028}\u{2029}<\u{301}"
        let json = try LiveMapPage.json(of: document)
        XCTAssertFalse(json.utf8.contains(UInt8(ascii: "<")))
        XCTAssertFalse(json.unicodeScalars.contains { $0 == "\u{2028}" || $0 == "\u{2029}" })
        XCTAssertEqual(try JSONDecoder().decode(LiveMapDocument.self, from: Data(json.utf8)), document)
    }

    func testThePolicyOfADocumentPermitsItsOwnScriptAndStylesOnly() throws {
        let page = try text(of: sample())
        let policy = try XCTUnwrap(between("Content-Security-Policy\" content=\"", "\">", in: page))
        XCTAssertTrue(policy.hasPrefix("default-src 'none'; script-src 'sha256-"))
        XCTAssertFalse(policy.contains("unsafe") || policy.contains("*"))
        let script = try XCTUnwrap(between("</script>\n<script>", "</script>", in: page))
        XCTAssertTrue(policy.contains("script-src 'sha256-\(digest(script))';"))
        for style in page.components(separatedBy: "<style>").dropFirst() {
            let body = try XCTUnwrap(style.components(separatedBy: "</style>").first)
            XCTAssertTrue(policy.contains("'sha256-\(digest(body))'"))
        }
    }

    func testTheSameDocumentGivesIdenticalBytes() throws {
        XCTAssertEqual(try LiveMapPage.document(sample()), try LiveMapPage.document(sample()))
    }

    func testADocumentWithANumberThatIsNotFiniteIsAnError() {
        var document = sample()
        document.overview.end = .nan
        XCTAssertThrowsError(try LiveMapPage.document(document)) { error in
            guard case .some(.content) = error as? LiveMapPageError else { return XCTFail("\(error)") }
        }
    }

    func testAPageWithoutAReferencedFileIsAnError() {
        let sources = ["index.html": "<meta charset=\"utf-8\">\n<link rel=\"stylesheet\" href=\"lost.css\">"]
        XCTAssertThrowsError(try LiveMapPage.html(of: sources, content: "{}")) {
            XCTAssertEqual($0 as? LiveMapPageError, .missingFile("lost.css", usedBy: "index.html"))
        }
    }

    /// The examples that NIST publishes for FIPS 180-4, and one of several blocks.
    func testTheDigestEqualsThePublishedExamples() {
        let examples = [
            "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            String(repeating: "a", count: 1_000): "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3",
        ]
        for (message, digest) in examples {
            let bytes = SHA256.digest(of: Array(message.utf8))
            XCTAssertEqual(bytes.map { String(format: "%02x", $0) }.joined(), digest, String(message.prefix(8)))
        }
    }

    private func lines(of file: LiveMapPage.File) -> [Substring] {
        String(decoding: file.bytes, as: UTF8.self).split(separator: "\n")
    }

    private func text(of document: LiveMapDocument) throws -> String {
        String(decoding: try LiveMapPage.document(document), as: UTF8.self)
    }

    private func between(_ start: String, _ end: String, in text: String) -> String? {
        guard let first = text.range(of: start), let last = text[first.upperBound...].range(of: end) else { return nil }
        return String(text[first.upperBound..<last.lowerBound])
    }

    private func digest(_ text: String) -> String {
        Data(SHA256.digest(of: Array(text.utf8))).base64EncodedString()
    }

    private func sample() -> LiveMapDocument {
        let map = LiveMapVenue.Map(
            id: 1, name: "Ground floor", level: 0, width: 20, height: 10, hasImage: false, tiles: nil,
            walls: [[0, 0, 20, 0]], walkable: [])
        let venue = LiveMapVenue(
            id: 7, name: "Museum", version: 1, maps: [map], rooms: [], fences: [], pointsOfInterest: [], beacons: [])
        let frame = LiveMapFrame(
            id: 1, t: 0.5, state: "idle", text: "Idle", venueId: 7, mapId: 1, estimate: nil, levels: [], particles: [],
            beacons: [], route: [], truth: nil, error: nil, diagnosis: nil)
        let overview = LiveMapOverview(
            mode: .recording, title: "Walk <1>", start: 0, end: 1, acceptsMarks: false, venues: [venue])
        return LiveMapDocument(
            overview: overview, plans: [.init(venueId: 7, mapId: 1, url: "data:image/png;base64,AA==")],
            frames: [frame], events: [], radioMap: nil)
    }
}

final class PageLinkerTests: XCTestCase {
    func testAModuleIsEvaluatedOnceAndAfterThoseThatItImports() throws {
        let script = try PageLinker(modules: [
            "main.js": "import { b } from \"./b.js\";\nimport { c } from \"./c.js\";\nb(c);",
            "b.js": "import { c } from \"./c.js\";\nexport function b() { return c; }",
            "c.js": "export const c = 1;\nexport class D {}\nexport async function e() {}",
        ]).script(of: "main.js")
        XCTAssertEqual(
            script,
            """
            (() => {
            "use strict";
            // c.js
            const module0 = (() => {
            const c = 1;
            class D {}
            async function e() {}
            return { c, D, e };
            })();
            // b.js
            const module1 = (() => {
            const { c } = module0;

            function b() { return c; }
            return { b };
            })();
            // main.js
            const module2 = (() => {
            const { b } = module1;
            const { c } = module0;


            b(c);
            return {  };
            })();
            })();

            """)
    }

    func testAnUnsupportedFormIsAnErrorWithItsLine() {
        let forms = [
            "import * as all from \"./c.js\";", "import c from \"./c.js\";", "import { c as d } from \"./c.js\";",
            "import \"./c.js\";", "import { c } from \"c.js\";", "import { c } from \"https://example.com/c.js\";",
            "import {", "import { c } from './c.js';", "export default 1;", "export { c };",
            "export * from \"./c.js\";",
            "export let c = 1;", "export function* c() {}", "  import { c } from \"./c.js\";",
            "const c = await import(\"./c.js\");", "const here = import.meta.url;", "const text = \"</SCRIPT>\";",
            "const text = \"<!--\";",
        ]
        for form in forms {
            let linker = PageLinker(modules: ["main.js": "const a = 1;\n\(form)", "c.js": "export const c = 1;"])
            XCTAssertThrowsError(try linker.script(of: "main.js"), form) { error in
                XCTAssertEqual(
                    error as? LiveMapPageError, .unsupportedSyntax(file: "main.js", line: 2, text: form), form)
            }
        }
    }

    func testATypeInACommentIsNoImport() throws {
        let source = """
            /** @param {import("./view.js").View} view */
             * @type {import("./view.js").View}
            const view = /** @type {import("./view.js").View} */ (null);
            const important = 1;
            """
        XCTAssertNoThrow(try PageLinker(modules: ["main.js": source]).script(of: "main.js"))
    }

    func testAMissingModuleAMissingNameAndACycleAreErrors() {
        let lost = PageLinker(modules: ["main.js": "import { a } from \"./a.js\";"])
        XCTAssertThrowsError(try lost.script(of: "main.js")) {
            XCTAssertEqual($0 as? LiveMapPageError, .missingFile("a.js", usedBy: "main.js"))
        }
        let unnamed = PageLinker(modules: ["main.js": "import { a } from \"./a.js\";", "a.js": "const a = 1;"])
        XCTAssertThrowsError(try unnamed.script(of: "main.js")) {
            XCTAssertEqual($0 as? LiveMapPageError, .missingExport("a", of: "a.js", usedBy: "main.js"))
        }
        let circle = PageLinker(modules: [
            "main.js": "import { a } from \"./a.js\";", "a.js": "import { b } from \"./b.js\";\nexport const a = 1;",
            "b.js": "import { a } from \"./a.js\";\nexport const b = 1;",
        ])
        XCTAssertThrowsError(try circle.script(of: "main.js")) {
            XCTAssertEqual($0 as? LiveMapPageError, .cycle(["main.js", "a.js", "b.js", "a.js"]))
        }
    }
}
