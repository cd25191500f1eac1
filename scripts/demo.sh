#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job, from a fresh machine to an answer: installs what is missing, builds the program
# and asks how fast DeepSeek-V4-Flash decodes on RTX PRO 6000 Server cards, layout by layout.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/scripts/build.sh" smtwin_cli
"$root/build/bin/smtwin" decode --model deepseek-v4-flash --gpu rtx-pro-6000-server \
  --tp 1,2,4,8 --batch 1,2,4,8,16,32,64,128 --context 8192 </dev/null
