import XCTest

@testable import LiveMap

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
